from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.loop import run_turn
from forge.agent.resume import NO_RESPONSE, find_session, load, newest_session, repair
from forge.agent.session import Prompt, Reminder
from forge.core.message import Message, Text, ToolResult, ToolUse
from forge.foundation.transcript import Transcript


def test_a_session_comes_back_as_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / "session-1.jsonl")
    model = ScriptedModel([[Text("let me see"), call("Echo", "a"), call("Echo", "b")], [Text("done")]])
    s = session(model, RecordingHost(), [tool("Echo", echo)], transcript=path)
    s.reminders = [Reminder("environment", "<system-reminder>\nhere\n</system-reminder>")]
    asyncio.run(run_turn(s, Prompt("hello", "prompt-1")))
    past = load(path)
    assert past is not None
    assert past.messages == s.messages
    assert (past.session_id, past.leaf) == ("session-1", s.recorder.leaf)
    assert past.cost_state["totalCostUSD"] == pytest.approx(s.ledger.cost)


def ids(messages: list[Message]) -> list[tuple[str, list[Any]]]:
    return [(m.role, m.blocks) for m in messages]


USE = ToolUse("t", "Echo", {})


@pytest.mark.parametrize(
    ("history", "repaired"),
    [
        ([], []),
        ([Message("user", [Text("q")])], ["user", "assistant"]),
        (
            [Message("user", [Text("q")]), Message("assistant", [USE])],
            ["user", "assistant", "user", "assistant"],
        ),
        (
            [Message("user", [Text("q")]), Message("assistant", [USE]), Message("user", [Text("next")])],
            ["user", "assistant", "user", "assistant"],
        ),
        (
            [
                Message("user", [Text("q")]),
                Message("assistant", [USE]),
                Message("user", [ToolResult("t", "ok")]),
            ],
            ["user", "assistant", "user", "assistant"],
        ),
        ([Message("user", [Text("q")]), Message("assistant", [Text("a")])], ["user", "assistant"]),
    ],
    ids=["empty", "no answer", "no result", "result missing before a prompt", "result, no answer", "whole"],
)
def test_a_broken_end_is_repaired(history: list[Message], repaired: list[str]) -> None:
    fixed = repair(list(history))
    assert [m.role for m in fixed] == repaired
    for n, message in enumerate(fixed):
        for use in message.calls:
            results = [b for b in fixed[n + 1].blocks if isinstance(b, ToolResult)]
            assert use.id in {r.tool_use_id for r in results}
    if fixed and len(fixed) > len(history):
        assert fixed[-1] == Message("assistant", [Text(NO_RESPONSE)], made_by="<synthetic>")


def write(path: Path, *records: dict[str, Any]) -> None:
    transcript = Transcript(str(path))
    for record in records:
        transcript.append(record)
    transcript.close()


def line(role: str, uuid: str, parent: str | None, content: Any) -> dict[str, Any]:
    stamp = "2026-11-15T12:00:00.000Z"
    message = {"role": role, "content": content}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "timestamp": stamp, "message": message}


def test_a_minimal_foreign_transcript_is_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(
        path, line("user", "u", None, "q"), line("assistant", "a", "u", [{"type": "text", "text": "answer"}])
    )
    past = load(str(path))
    assert past is not None
    assert ids(past.messages) == [("user", [Text("q")]), ("assistant", [Text("answer")])]


def test_blocks_this_version_does_not_know_survive(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    unknown = {"type": "hologram", "data": {"x": 1}}
    write(path, line("user", "u", None, "q"), line("assistant", "a", "u", [unknown]))
    past = load(str(path))
    assert past is not None
    assert past.messages[1].blocks == [unknown]


@pytest.mark.parametrize("content", [b"", b"garbage\n", b'{"type":"last-prompt"}\n'])
def test_a_file_without_a_conversation_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    assert load(str(path)) is None
    assert load(str(tmp_path / "missing.jsonl")) is None


def test_sessions_are_found_by_id_in_every_project_and_by_title_in_this_one(tmp_path: Path) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    write(
        here / "one.jsonl", line("user", "u", None, "q"), {"type": "custom-title", "customTitle": "my title"}
    )
    write(other / "two.jsonl", line("user", "u", None, "q"))
    projects = str(tmp_path)
    assert find_session(projects, str(here), "one") == str(here / "one.jsonl")
    assert find_session(projects, str(here), "two") == str(other / "two.jsonl")
    assert find_session(projects, str(here), "my title") == str(here / "one.jsonl")
    assert find_session(projects, str(here), "nothing") is None
    assert newest_session(str(here)) == str(here / "one.jsonl")
    assert newest_session(str(tmp_path / "empty")) is None
