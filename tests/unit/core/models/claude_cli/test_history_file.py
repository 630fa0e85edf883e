"""How a conversation is handed to a CLI that starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.core.message import Block, Text, ToolResult, ToolUse
from forge.core.models.asides import Turn
from forge.core.models.claude_cli.history_file import divide, with_wire_names, write_history


def user(*blocks: Block) -> Turn:
    return Turn("user", list(blocks))


def reply(*blocks: Block) -> Turn:
    return Turn("assistant", list(blocks))


ASK, ANSWER, CALL = user(Text("q")), reply(Text("a")), reply(ToolUse("t", "Bash", {"command": "ls"}))
RESULT = user(ToolResult("t", "out"))


@pytest.mark.parametrize(
    ("turns", "stored", "replayed", "prompt"),
    [
        ([ASK], 0, 0, ASK.blocks),
        ([ASK, ANSWER, ASK], 2, 0, ASK.blocks),
        ([ASK, CALL, RESULT], 0, 2, RESULT.blocks),
        ([ASK, ANSWER, ASK, CALL, RESULT, CALL, RESULT], 2, 4, RESULT.blocks),
        ([ASK, CALL, RESULT, ANSWER, ASK], 4, 0, ASK.blocks),
        ([ASK, ANSWER], 2, 0, [Text("Continue.")]),
    ],
)
def test_a_file_ends_with_a_reply_without_calls_and_the_rest_is_replayed(
    turns: list[Turn], stored: int, replayed: int, prompt: list[Block]
) -> None:
    past = divide(turns)
    assert (len(past.stored), len(past.replayed), past.prompt) == (stored, replayed, prompt)
    assert [*past.stored, *past.replayed] == turns[: stored + replayed]


def test_calls_get_the_names_the_cli_knows() -> None:
    assert with_wire_names(CALL).blocks == [ToolUse("t", "mcp__forge__Bash", {"command": "ls"})]
    assert with_wire_names(RESULT) is RESULT


def test_a_transcript_is_a_private_chain_of_records(tmp_path: Path) -> None:
    path = Path(write_history(str(tmp_path / "new"), [ASK, CALL, RESULT, ANSWER], "claude-x", "/w"))
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [record["type"] for record in records] == ["user", "assistant", "user", "assistant"]
    assert [record["parentUuid"] for record in records] == [None, *(r["uuid"] for r in records[:-1])]
    assert {(record["sessionId"], record["cwd"], record["isSidechain"]) for record in records} == {
        (path.stem, "/w", False)
    }
    assert records[1]["message"]["content"] == [
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    ]
    assert (records[1]["message"]["model"], records[0]["message"]["role"]) == ("claude-x", "user")
