from __future__ import annotations

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubles import CARD, RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.hooks.port import Told
from forge.agent.hooks.sites import tell_now
from forge.agent.loop import run_turn
from forge.agent.resume import NO_RESPONSE, find_session, load, newest_session, repair
from forge.agent.session import Prompt, Reminder
from forge.core.message import Aside, Message, Text, ToolResult, ToolUse
from forge.core.tool import ToolContext, ToolOutput
from forge.foundation.encode import dumps
from forge.foundation.history.transcript import Transcript, read_records


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


REMINDER = "<system-reminder>\nhere\n</system-reminder>"


def test_what_stands_beside_the_prompt_and_the_results_comes_back(tmp_path: Path) -> None:
    path = str(tmp_path / "session-1.jsonl")
    model = ScriptedModel([[call("Echo", "a"), call("Echo", "b")], [Text("done")]])
    model.card = msgspec.structs.replace(CARD, counts_tokens=True)
    s = session(model, RecordingHost(), [tool("Echo", echo)], transcript=path)
    tell_now(s, [Told("hook_additional_context", "SessionStart: hello")])
    s.reminders = [Reminder("environment", REMINDER)]
    asyncio.run(run_turn(s, Prompt("hello", "prompt-1")))
    past = load(path)
    assert past is not None
    assert past.messages == s.messages
    assert [b for b in past.messages[0].blocks if isinstance(b, Aside)]
    assert isinstance(past.messages[2].blocks[-1], Aside)
    kept = [r["rendered"] for r in read_records(path) if r.get("renderedRole") == "system"]
    assert all(words["content"].startswith("<system-reminder>\n") for (words,) in kept)


def test_results_come_back_in_the_order_they_came(tmp_path: Path) -> None:
    path = str(tmp_path / "session-1.jsonl")
    first_may_end = asyncio.Event()

    async def look(given: dict[str, Any], context: ToolContext) -> ToolOutput:
        if context.call_id == "slow":
            await first_may_end.wait()
        first_may_end.set()
        return ToolOutput("seen")

    model = ScriptedModel([[call("Look", "slow"), call("Look", "quick")], [Text("done")]])
    s = session(model, RecordingHost(), [tool("Look", look)], transcript=path)
    asyncio.run(run_turn(s, Prompt("hello", "prompt-1")))
    results = [b.tool_use_id for b in s.messages[2].blocks if isinstance(b, ToolResult)]
    assert results == ["quick", "slow"]
    past = load(path)
    assert past is not None
    assert past.messages == s.messages


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
    assert find_session(projects, str(here), " My TITLE ") == str(here / "one.jsonl")
    assert find_session(projects, str(here), str(other / "two.jsonl")) == str(other / "two.jsonl")
    assert find_session(projects, str(here), "nothing") is None
    assert find_session(projects, str(here), "") is None
    assert newest_session(str(here)) == str(here / "one.jsonl")
    assert newest_session(str(tmp_path / "empty")) is None


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("u", ["q"]),
        ("a1", ["q", "let"]),
        ("a2", ["q", "let", ""]),
        ("r", ["q", "let", ""]),
        ("a3", ["q", "let", "", "done"]),
    ],
)
def test_a_conversation_can_be_cut_after_any_entry(tmp_path: Path, until: str, said: list[str]) -> None:
    path = tmp_path / "s.jsonl"
    use = {"type": "tool_use", "id": "t", "name": "Echo", "input": {}}
    records = [
        line("user", "u", None, "q"),
        line("assistant", "a1", "u", [{"type": "text", "text": "let"}]),
        line("assistant", "a2", "a1", [use]),
        line("user", "r", "a2", [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
        line("assistant", "a3", "r", [{"type": "text", "text": "done"}]),
    ]
    for record in records:
        record["message"]["id"] = "m1" if record["uuid"] in ("a1", "a2") else ""
    write(path, *records)
    past = load(str(path), until)
    assert past is not None
    assert ([message.text for message in past.messages], past.leaf) == (said, until)


def test_what_could_not_be_used_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    broken = [
        {"type": "tool_use", "id": 5},
        7,
        {"text": "no type"},
        "just text",
        {"type": "text", "text": ""},
    ]
    orphan = [{"type": "tool_result", "tool_use_id": "nobody", "content": "ok"}]
    write(
        path,
        line("user", "u", None, "q"),
        line("assistant", "a", "u", broken),
        line("user", "o", "a", orphan),
        line("user", "p", "o", 99),
        line("user", "n", "p", "next"),
    )
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"x","paren')
    past = load(str(path))
    assert past is not None
    assert ids(past.messages) == [
        ("user", [Text("q")]),
        ("assistant", [Text("just text")]),
        ("user", [Text("next")]),
        ("assistant", [Text(NO_RESPONSE)]),
    ]
    assert past.notes == [
        "skipped 1 unreadable line: 6",
        "left out 4 pieces of a wrong shape",
        "left out 1 tool result without a call",
    ]


def test_a_whole_transcript_needs_no_notes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, line("user", "u", None, "q"), line("assistant", "a", "u", "answer"))
    past = load(str(path))
    assert past is not None
    assert past.notes == []


def test_of_two_branches_the_last_is_taken_and_the_other_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(
        path,
        line("user", "u", None, "q"),
        line("assistant", "a", "u", "first answer"),
        line("user", "n", "a", "more"),
        line("assistant", "b", "u", "second answer"),
        line("user", "m", "b", "other"),
        line("assistant", "c", "m", "end"),
    )
    past = load(str(path))
    assert past is not None
    assert [m.text for m in past.messages] == ["q", "second answer", "other", "end"]
    assert past.notes == ["left out 2 entries of another branch: the last one counts"]
    earlier = load(str(path), until="a")
    assert earlier is not None
    assert earlier.notes == []


def test_everything_that_can_be_wrong_at_once_is_said_and_the_rest_loaded(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(
        path,
        line("user", "u", None, "q"),
        line("assistant", "a", "u", "first answer"),
        line("assistant", "b", "u", "second answer"),
        {"type": "hologram", "uuid": "h", "parentUuid": "b", "depth": 3},
        line("user", "m", "lost", "other"),
        line("assistant", "c", "m", "end"),
    )
    whole = path.read_bytes()
    path.write_bytes(b'{"type":"user","uu\n' + whole + b"\x00\xff\n[1, 2]\n" + whole.splitlines()[-1][:40])
    past = load(str(path))
    assert past is not None
    assert [m.text for m in past.messages] == ["q", "second answer", "other", "end"]
    assert past.notes == [
        "skipped 4 unreadable lines: 1, 8, 9, 10",
        "ignored records of unknown type: hologram",
        "the parent of entry m is missing: it follows the one before it",
        "left out 1 entry of another branch: the last one counts",
    ]


def test_a_history_without_its_beginning_starts_with_a_user_message(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, line("assistant", "a", "lost", "answer"), line("user", "u", "a", "next"))
    past = load(str(path))
    assert past is not None
    assert [m.role for m in past.messages] == ["user", "assistant", "user", "assistant"]
    assert past.notes == ["the parent of entry a is missing: the conversation starts there"]


def test_a_stray_entry_at_the_end_does_not_hide_the_conversation(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    stray = {**attachment("e", "x", "environment", "late"), "parentUuid": None}
    write(path, line("user", "u", None, "q"), line("assistant", "a", "u", "answer"), stray)
    past = load(str(path))
    assert past is not None
    assert [m.text for m in past.messages] == ["q", "answer"]
    assert past.notes == ["the entries written last belong to no conversation: they are left out"]


def test_a_title_with_an_id_of_its_own_is_no_entry_of_the_conversation(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    title = {"type": "custom-title", "customTitle": "t", "uuid": "t", "timestamp": "2026-01-01T00:00:00.000Z"}
    write(path, line("user", "u", None, "q"), line("assistant", "a", "u", "answer"), title)
    past = load(str(path))
    assert past is not None
    assert (past.leaf, past.notes) == ("a", [])


def test_replies_between_which_nothing_is_left_become_one() -> None:
    orphan = Message("user", [ToolResult("nobody", "ok")])
    history = [orphan, Message("assistant", [Text("a")]), orphan, Message("assistant", [Text("b")])]
    assert ids(repair(history))[1:] == [("assistant", [Text("a"), Text("b")])]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("ok", "ok"),
        (None, ""),
        (5, "5"),
        ([{"type": "text", "text": "a"}, 3, {"no": "type"}], [Text("a")]),
    ],
    ids=repr,
)
def test_a_result_of_a_wrong_shape_is_used_as_far_as_possible(
    tmp_path: Path, content: Any, expected: Any
) -> None:
    path = tmp_path / "s.jsonl"
    use = {"type": "tool_use", "id": "t", "name": "Echo", "input": {}, "caller": {"type": "direct"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": "no", "extra": 1}
    write(
        path,
        line("user", "u", None, "q"),
        line("assistant", "a", "u", [use]),
        line("user", "r", "a", [result]),
    )
    past = load(str(path))
    assert past is not None
    assert past.messages[1].blocks == [USE]
    assert past.messages[2].blocks == [ToolResult("t", expected)]


def attachment(uuid: str, parent: str, kind: str, *texts: str, **facts: str) -> dict[str, Any]:
    stamp = "2026-11-15T12:00:00.000Z"
    rendered = [{"content": text} for text in texts] or None
    body = {
        "type": "attachment",
        "attachment": {"type": kind, **facts},
        "rendered": rendered,
        "renderedRole": "system",
    }
    return {**body, "uuid": uuid, "parentUuid": parent, "timestamp": stamp, "isSidechain": False}


def test_what_hooks_said_of_parallel_calls_comes_back_with_their_results(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    hook = "hook_additional_context"

    def use(name: str) -> list[dict[str, Any]]:
        return [{"type": "tool_use", "id": name, "name": "Echo", "input": {}}]

    def result(name: str) -> list[dict[str, Any]]:
        return [{"type": "tool_result", "tool_use_id": name, "content": name}]

    write(
        path,
        line("user", "u", None, "q"),
        line("assistant", "a1", "u", use("one")),
        line("assistant", "a2", "a1", use("two")),
        attachment("p1", "a2", hook, "<system-reminder>\npre\n</system-reminder>"),
        line("user", "r1", "a1", result("one")),
        attachment("h1", "r1", hook, "post 1", hookEvent="PostToolUse", toolUseID="one"),
        line("user", "r2", "a2", result("two")),
        attachment("h2", "r2", hook, "post 2", hookEvent="PostToolUse", toolUseID="two"),
        attachment("t", "h2", "total_tokens_reminder", "9 left"),
        line("assistant", "a3", "t", [{"type": "text", "text": "done"}]),
        line("user", "left", "u", "of another branch"),
        attachment("other", "left", hook, "of another branch too"),
        line("user", "next", "a3", "go on"),
    )
    past = load(str(path))
    assert past is not None
    told = [Aside("pre"), Aside("post 1"), Aside("post 2"), Aside("9 left")]
    assert past.messages[2].blocks == [ToolResult("one", "one"), ToolResult("two", "two"), *told]
    assert "another" not in str([m.blocks for m in past.messages])


def test_a_compacted_session_of_the_reference_resumes_as_it_was_sent(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    segment = {"headUuid": "a1", "anchorUuid": "sum", "tailUuid": "a1"}
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "x",
        "parentUuid": None,
        "logicalParentUuid": "a1",
        "compactMetadata": {"trigger": "manual", "preservedSegment": segment},
    }
    write(
        path,
        {"type": "queue-operation", "operation": "enqueue"},
        line("user", "u1", None, "before"),
        attachment("e1", "u1", "environment", REMINDER),
        attachment("e2", "e1", "session_context"),
        line("assistant", "a1", "e2", [{"type": "text", "text": "kept answer"}]),
        {**line("user", "side", "a1", "sub-agent"), "isSidechain": True},
        boundary,
        {**line("user", "sum", "x", "Summary: before"), "isCompactSummary": True},
        {**line("user", "cav", "sum", "<local-command-caveat>x</local-command-caveat>"), "isMeta": True},
        line("user", "cmd", "cav", "<command-name>/compact</command-name>"),
        line("user", "out", "cmd", "<local-command-stdout>Compacted</local-command-stdout>"),
        attachment("f", "out", "file", "<system-reminder>read</system-reminder>", REMINDER),
        line("user", "u2", "f", "after"),
        {**line("assistant", "err", "u2", "API Error"), "isApiErrorMessage": True},
        {"type": "last-prompt", "lastPrompt": "after"},
    )
    past = load(str(path))
    assert past is not None
    assert ids(past.messages) == [
        ("user", [Text("Summary: before")]),
        ("assistant", [Text("kept answer")]),
        (
            "user",
            [
                Aside("read"),
                Aside("here"),
                Text("<local-command-caveat>x</local-command-caveat>"),
                Text("<command-name>/compact</command-name>"),
                Text("<local-command-stdout>Compacted</local-command-stdout>"),
                Text("after"),
            ],
        ),
    ]
    assert past.notes == []


@pytest.mark.parametrize(
    ("content", "facts", "answered"),
    [
        ("a question", {}, True),
        ("Summary: all", {"isCompactSummary": True}, False),
        ("<local-command-stdout>Compacted</local-command-stdout>", {}, False),
    ],
    ids=["prompt", "summary", "command"],
)
def test_only_a_question_without_an_answer_gets_one(
    tmp_path: Path, content: str, facts: dict[str, Any], answered: bool
) -> None:
    path = tmp_path / "s.jsonl"
    write(path, {**line("user", "u", None, content), **facts}, attachment("e", "u", "environment", REMINDER))
    past = load(str(path))
    assert past is not None
    assert [m.role for m in past.messages] == ["user", "assistant"][: 1 + answered]


def test_the_records_of_a_fork_are_those_of_the_conversation_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    kept = [
        {**line("user", "u", None, "q"), "own": {"n": 1.50}},
        {**line("assistant", "a", "u", "x"), "toolUseResult": {"big": "é"}},
    ]
    write(path, kept[0], line("assistant", "dropped", "u", "other"), kept[1])
    past = load(str(path))
    assert past is not None
    again = tmp_path / "again.jsonl"
    write(again, *past.records)
    assert list(read_records(str(again))) == kept


LINES = [
    line("user", "u", None, "q"),
    line("assistant", "a", "u", [{"type": "tool_use", "id": "t", "name": "E", "input": {}}]),
    line("user", "r", "a", [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]),
    line("assistant", "b", "r", [{"type": "text", "text": "done"}]),
]


@given(
    cut=st.integers(0, 3), start=st.integers(0, 200), length=st.integers(1, 200), junk=st.binary(max_size=20)
)
def test_a_damaged_line_never_costs_the_others(cut: int, start: int, length: int, junk: bytes) -> None:
    lines = [dumps(record) for record in LINES]
    lines[cut] = lines[cut][:start] + junk.replace(b"\n", b"") + lines[cut][start + length :]
    with TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_bytes(b"\n".join(lines) + b"\n")
        past = load(str(path))
    assert past is not None
    roles = [m.role for m in past.messages]
    assert roles == [("user", "assistant")[n % 2] for n in range(len(roles))]
    for n, message in enumerate(past.messages):
        answers = [b.tool_use_id for b in message.blocks if isinstance(b, ToolResult)]
        assert answers == [c.id for c in (past.messages[n - 1].calls if n else [])]


def test_the_newest_session_is_one_that_holds_a_conversation(tmp_path: Path) -> None:
    write(tmp_path / "talk.jsonl", line("user", "u", None, "q"))
    write(tmp_path / "title.jsonl", {"type": "custom-title", "customTitle": "x"})
    os.utime(tmp_path / "talk.jsonl", (1, 1))
    assert newest_session(str(tmp_path)) == str(tmp_path / "talk.jsonl")


RESULT = {"type": "tool_result", "tool_use_id": "p", "content": "ok"}
PLAN = [{"type": "tool_use", "id": "p", "name": "EnterPlanMode", "input": {}}]


@pytest.mark.parametrize(
    ("after", "planning"),
    [
        ([attachment("x", "a", "plan_mode")], True),
        ([attachment("x", "a", "plan_mode"), attachment("y", "x", "plan_mode_exit")], False),
        ([line("assistant", "x", "a", PLAN), line("user", "y", "x", [RESULT])], True),
        ([line("assistant", "x", "a", PLAN), line("user", "y", "x", [{**RESULT, "is_error": True}])], False),
    ],
    ids=["told", "over", "entered", "refused"],
)
def test_a_resumed_conversation_knows_whether_it_plans(
    tmp_path: Path, after: list[dict[str, Any]], planning: bool
) -> None:
    path = tmp_path / "s.jsonl"
    answer = line("assistant", "a", "u", [{"type": "text", "text": "hm"}])
    write(path, line("user", "u", None, "q"), answer, *after)
    past = load(str(path))
    assert past is not None
    assert past.planning is planning
