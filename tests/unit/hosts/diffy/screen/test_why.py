from __future__ import annotations

from pathlib import Path

import msgspec

from forge.hosts.diffy.screen.why import explain, reason


def said(role: str, *blocks: dict[str, object] | str) -> bytes:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return msgspec.json.encode({"type": role, "message": {"role": role, "content": content}}) + b"\n"


def call(name: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "name": name, "input": given}


TRANSCRIPT = [
    said("user", "Make the cart sum with tax"),
    said("assistant", "First the constant."),
    said("assistant", call("Edit", file_path="/w/src/cart.py", new_string="TAX = 2")),
    said("assistant", "Now the sum, because tax was missing."),
    said("assistant", call("Edit", file_path="/w/src/cart.py", new_string="    return sum(items) * TAX\n")),
    said("assistant", "And the other file."),
    said("assistant", call("Write", file_path="/w/src/other.py", content="return sum(items) * TAX")),
    b"not json\n",
]


def test_the_call_that_wrote_the_lines_explains_them() -> None:
    assert explain(TRANSCRIPT, "src/cart.py", ["    return sum(items) * TAX"]) == (
        "You asked:\nMake the cart sum with tax\n\n"
        "The agent said before Edit:\nNow the sum, because tax was missing."
    )


def test_a_file_that_was_never_written_has_no_reason() -> None:
    assert explain(TRANSCRIPT, "src/none.py", ["x"]) == ""


def test_a_command_that_names_the_file_is_a_weak_reason() -> None:
    lines = [said("assistant", "Formatting."), said("assistant", call("Bash", command="fmt src/cart.py"))]
    assert explain(lines, "src/cart.py", ["x"]) == "The agent said before Bash:\nFormatting."


def test_the_transcript_of_the_session_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-w"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_bytes(b"".join(TRANSCRIPT))
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path)}
    assert "because tax" in reason(env, "s1", "src/cart.py", ["    return sum(items) * TAX"])
    assert reason(env, "s2", "src/cart.py", []) == ""
    assert reason(env, "../s1", "src/cart.py", []) == ""
