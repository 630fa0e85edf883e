"""Against the real reference CLI (`make conformance`): checkpoints, compaction and costs are shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.test_reference import reference, said
from fakemodel import serve
from forge_run import MODEL, environment, forge

SESSION = "0b7c1d4e-5f6a-4b8c-9d0e-1f2a3b4c5d6e"
ALLOWED = ("--model", MODEL, "--dangerously-skip-permissions")
CHECKPOINTS = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}


def edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"tool": "Edit", "input": {"file_path": str(path), "old_string": old, "new_string": new}}


def prompts(home: Path) -> list[str]:
    (path,) = (home / ".claude" / "projects").glob(f"*/{SESSION}.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    snapshots = [r for r in records if r["type"] == "file-history-snapshot"]
    return list(dict.fromkeys(r["messageId"] for r in snapshots))


@pytest.mark.parametrize("maker", ["forge", "reference"])
def test_each_program_goes_back_to_the_others_checkpoints(home: Path, tmp_path: Path, maker: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    file, made = project / "a.sh", project / "made.txt"
    file.write_text("one\n")
    file.chmod(0o751)
    read = {"tool": "Read", "input": {"file_path": str(file)}}
    write = {"tool": "Write", "input": {"file_path": str(made), "content": "x"}}
    turns = [
        [read],
        [edit(file, "one", "two"), write],
        [{"text": "1"}],
        [edit(file, "two", "three")],
        [{"text": "2"}],
    ]
    with serve(turns) as server:
        env = environment(home, server.url, **CHECKPOINTS)

        def make(*args: str) -> None:
            if maker == "forge":
                assert forge("-p", *args, *ALLOWED, cwd=project, env=env).code == 0
            else:
                reference("-p", *args, *ALLOWED, cwd=project, env=env)

        def go_back(message: str) -> str:
            args = ("-p", "--resume", SESSION, "--rewind-files", message)
            if maker == "forge":
                return reference(*args, cwd=project, env=env)
            return forge(*args, cwd=project, env=env).out

        make("first", "--session-id", SESSION)
        make("second", "--resume", SESSION)
        assert file.read_text() == "three\n"
        first, second = prompts(home)
        assert go_back(second) == f"Files rewound to state at message {second}\n"
        assert (file.read_text(), made.exists()) == ("two\n", True)
        assert go_back(first) == f"Files rewound to state at message {first}\n"
    assert (file.read_text(), made.exists(), file.stat().st_mode & 0o777) == ("one\n", False, 0o751)


def test_the_reference_goes_on_where_forge_went_back_to_and_costs_add_up(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with serve([[{"text": "one"}], [{"text": "two"}], [{"text": "three"}]]) as server:
        env = environment(home, server.url)
        assert forge("-p", "first", "--session-id", SESSION, *ALLOWED, cwd=project, env=env).code == 0
        before = forge(
            "-p", "second", "--resume", SESSION, "--output-format", "json", *ALLOWED, cwd=project, env=env
        )
        _, second = prompts(home)
        gone = forge("sessions", "rewind", SESSION, "--to", second, "--conversation", cwd=project, env=env)
        assert gone.code == 0
        args = ("-p", "again", "--resume", SESSION, "--output-format", "json", *ALLOWED)
        after = json.loads(reference(*args, cwd=project, env=env))
        assert said(server.requests[-1].body) == ["user first", "assistant one", "user again"]
    assert after["total_cost_usd"] > json.loads(before.out)["total_cost_usd"] > 0


def told(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every block of a request but those of the last message, where each program speaks for itself."""
    blocks = []
    for message in body["messages"][:-1]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            # The reference ends some texts with an empty line.
            blocks.append(
                (message["role"], {**plain, **({"text": plain["text"].rstrip()} if "text" in plain else {})})
            )
    return blocks


@pytest.mark.parametrize("maker", ["forge", "reference"])
def test_both_programs_rebuild_the_same_request(home: Path, tmp_path: Path, maker: str) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / "a.txt").write_text("mentioned\n")
    context = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "looked at"}}
    hook = {"hooks": [{"type": "command", "command": f"echo '{json.dumps(context)}'"}]}
    settings = {"hooks": {"PostToolUse": [hook]}}
    (project / ".claude/settings.json").write_text(json.dumps(settings))
    echo = [{"tool": "Bash", "input": {"command": f"echo {n}"}} for n in range(2)]
    missing = {"tool": "Read", "input": {"file_path": str(project / "missing")}}
    turns = [
        [
            {"thinking": "hm", "signature": "c2ln"},
            {"text": "let me"},
            echo[0],
            missing,
            {"tool": "Nope", "input": {}},
        ],
        [{"thinking": "so", "signature": "c2ln"}, echo[1]],
        [{"text": "first"}],
        [{"text": "second"}],
    ]
    with serve(turns) as server:
        env = environment(home, server.url)
        make = ("-p", "see @a.txt", "--session-id", SESSION, *ALLOWED)
        fork = ("-p", "next", "--resume", SESSION, "--fork-session", *ALLOWED)
        if maker == "forge":
            assert forge(*make, cwd=project, env=env).code == 0
        else:
            reference(*make, cwd=project, env=env)
        reference(*fork, cwd=project, env=env)
        expected = told(server.requests[-1].body)
        done = forge(*fork, cwd=project, env=env)
        assert (done.code, done.err) == (0, "")
        assert told(server.requests[-1].body) == expected
    assert sum(block["type"] == "thinking" for _, block in expected) == 2


def test_forge_goes_on_with_a_compacted_session_as_the_reference_would(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with serve([[{"text": f"answer {n}"}] for n in range(9)]) as server:
        env = environment(home, server.url)
        for args in (("first", "--session-id", SESSION), ("/compact", "--resume", SESSION)):
            reference("-p", *args, *ALLOWED, cwd=project, env=env)
        fork = ("--resume", SESSION, "--fork-session")
        reference("-p", "next", *fork, *ALLOWED, cwd=project, env=env)
        expected = said(server.requests[-1].body)
        done = forge("-p", "next", *fork, *ALLOWED, cwd=project, env=env)
        assert (done.code, done.err) == (0, "")
        assert said(server.requests[-1].body) == expected
