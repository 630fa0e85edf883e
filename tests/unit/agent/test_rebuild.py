"""What a model was told, rebuilt from records of either program."""

from __future__ import annotations

from typing import Any

import pytest

from forge.agent.mending import Mending, repair
from forge.agent.rebuild import messages
from forge.agent.texts.load import text
from forge.core.message import (
    UNPARSED_INPUT,
    Aside,
    Block,
    Image,
    Message,
    Source,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from forge.core.reminder import reminder

Record = dict[str, Any]


def user(content: Any, **facts: Any) -> Record:
    return {"type": "user", "message": {"role": "user", "content": content}, **facts}


def said(*content: Any, id: str = "m", **facts: Any) -> Record:
    message = {"role": "assistant", "id": id, "model": "x", "content": list(content)}
    return {"type": "assistant", "message": message, **facts}


def use(name: str) -> Record:
    return {"type": "tool_use", "id": name, "name": "T", "input": {}}


def result(name: str, content: Any = "r") -> Record:
    return user([{"type": "tool_result", "tool_use_id": name, "content": content}])


def told(*texts: str, kind: str = "k", role: str = "system", **facts: Any) -> Record:
    rendered = [{"content": each} for each in texts]
    return {
        "type": "attachment",
        "attachment": {"type": kind},
        "rendered": rendered,
        "renderedRole": role,
        **facts,
    }


def shown(*records: Record) -> list[list[Block]]:
    return [message.blocks for message in messages(records)]


GO: list[Block] = [Text("go")]


def test_a_reply_is_one_message_even_if_results_were_written_between_its_blocks() -> None:
    records = [user("go"), said(use("a")), result("a"), said(use("b"), apiBlockIndex=1), result("b")]
    assert shown(*records) == [
        GO,
        [ToolUse("a", "T", {}), ToolUse("b", "T", {})],
        [ToolResult("a", "r"), ToolResult("b", "r")],
    ]


@pytest.mark.parametrize(
    "second",
    [said(use("b"), id="n"), said(use("b"), apiBlockIndex=0), said(use("b"), id="")],
    ids=["another name", "a first block", "no name"],
)
def test_another_reply_is_another_message(second: Record) -> None:
    assert len(shown(user("go"), said(use("a")), result("a"), second, result("b"))) == 5


def test_what_is_told_directly_behind_a_result_is_about_it() -> None:
    records = [said(use("a"), use("b")), result("a"), told("1"), result("b"), told("2"), user("w"), told("3")]
    about = [Aside("1", "a"), Aside("2", "b"), Aside("3", "b")]
    assert shown(*records)[1] == [ToolResult("a", "r"), ToolResult("b", "r"), *about, Text("w")]


def test_what_is_told_before_a_result_keeps_the_rest_out_of_it() -> None:
    records = [said(use("a")), told("before"), result("a"), told("after")]
    assert shown(*records)[1] == [ToolResult("a", "r"), Aside("before"), Aside("after")]


def test_reminders_stand_before_words_that_look_like_reminders() -> None:
    words = reminder("news")
    assert shown(user(words), told(reminder("count"), role="user")) == [
        [Text(reminder("count")), Text(words)]
    ]


def test_a_reminder_meant_to_stand_beside_a_result_does_so() -> None:
    beside = told(reminder("x"), role="user", renderedBesideToolResult=True)
    blocks = shown(said(use("a")), result("a"), beside, told("y"))[1]
    assert blocks == [ToolResult("a", "r"), {"type": "text", "text": reminder("x")}, Aside("y")]


def test_an_image_that_was_mentioned_is_shown_again() -> None:
    file = {"type": "image", "file": {"type": "image/png", "base64": "aGk="}}
    facts = {"type": "file", "filename": "/p/i.png", "content": file}
    call = reminder('Called the Read tool with the following input: {"file_path":"/p/i.png"}')
    image = Image(Source("base64", "image/png", "aGk="))
    record = {"type": "attachment", "attachment": facts, "rendered": None}
    assert shown(user("go"), record) == [[Text(call), image, Text("go")]]


def test_loaded_tools_are_announced_again() -> None:
    found = [{"type": "tool_reference", "tool_name": "T"}]
    blocks = shown(said(use("a")), result("a", found), told("left"))[1]
    assert blocks == [ToolResult("a", [*found]), Text("Tool loaded."), Aside("left", "a")]


def test_of_a_result_with_fields_of_another_version_the_known_ones_count() -> None:
    strange = user([{"type": "tool_result", "tool_use_id": "a", "content": "r", "is_error": True, "new": 1}])
    assert shown(said(use("a")), strange)[1] == [ToolResult("a", "r", True)]


def test_what_a_command_said_is_heard_and_needs_no_answer() -> None:
    output = "<local-command-stdout>x</local-command-stdout>"
    for record in (
        {"type": "system", "subtype": "local_command", "content": output},
        user([{"type": "text", "text": output}]),
    ):
        mending = Mending([])
        history = repair(
            messages([user("go"), said({"type": "text", "text": "a"}), record], mending), mending
        )
        assert [m.blocks for m in history] == [GO, [Text("a")], [Text(output)]]


def test_other_remarks_of_the_program_are_not_heard() -> None:
    assert shown(user("go"), {"type": "system", "subtype": "informational", "content": "x"}) == [GO]


def test_news_of_background_work_is_marked_as_such() -> None:
    news = "<task-notification>\nx</task-notification>"
    marked = reminder(f"{text('job_news')}\n\n{news}")
    assert shown(user(news, origin={"kind": "task-notification"})) == [[Text(marked)]]
    assert shown(user(news)) == [[Text(news)]]


@pytest.mark.parametrize("kind", ["hook_stopped_continuation", "max_turns_reached"])
def test_a_turn_that_was_ended_needs_no_answer(kind: str) -> None:
    mending = Mending([])
    records = [user("go"), said(use("a")), result("a"), told(kind=kind)]
    assert repair(messages(records, mending), mending)[-1].role == "user"


@pytest.mark.parametrize(
    ("made_by", "maker"),
    [("model", "anthropic/x"), ("other", "anthropic/x"), ("p/m", "p/m"), (3, "anthropic/x")],
)
def test_the_maker_of_a_reply_is_its_model(made_by: Any, maker: str) -> None:
    (reply,) = messages([said({"type": "thinking", "thinking": "h", "signature": "s"}, madeBy=made_by)])
    assert reply == Message("assistant", [Thinking("h", "s")], "m", maker)


def test_a_message_to_an_agent_is_what_the_model_said() -> None:
    given = {
        "to": "bob",
        "summary": "s",
        "message": "m",
        "type": "message",
        "recipient": "bob",
        "content": "m",
    }
    (reply,) = messages([said({"type": "tool_use", "id": "a", "name": "SendMessage", "input": given})])
    assert reply.calls == [ToolUse("a", "SendMessage", {"to": "bob", "summary": "s", "message": "m"})]


def test_a_reply_of_nothing_but_thoughts_is_left_out() -> None:
    history = [Message("user", GO), Message("assistant", [Thinking("h", "s")]), Message("user", [Text("on")])]
    assert repair(history, Mending([]))[0] == Message("user", [Text("go"), Text("on")])


def test_a_call_without_a_result_gets_one_behind_the_others_and_ends_the_turn() -> None:
    calls = Message("assistant", [ToolUse("a", "T", {}), ToolUse("b", "T", {})])
    lost = ToolResult("a", text("session_ended"), True)
    history = [Message("user", GO), calls, Message("user", [ToolResult("b", "r")])]
    assert repair(history)[2].blocks == [ToolResult("b", "r"), lost]
    settled = Mending([])
    settled.settled = True
    assert [m.role for m in repair(history[:2], settled)] == ["user", "assistant", "user", "assistant"]


def test_a_call_that_comes_twice_is_made_once() -> None:
    call = Message("assistant", [ToolUse("a", "T", {})])
    answer = Message("user", [ToolResult("a", "r")])
    mending = Mending([])
    again = Message("assistant", [Text("hm"), ToolUse("a", "T", {})])
    fixed = repair([Message("user", GO), call, answer, call, answer, again], mending)
    assert fixed == [Message("user", GO), call, answer, Message("assistant", [Text("hm")])]
    assert mending.notes() == ["left out 2 pieces of a wrong shape", "left out 1 tool result without a call"]


@pytest.mark.parametrize(("given", "raw"), [("words", "words"), ([1], "[1]"), (None, "null")])
def test_a_call_whose_input_is_no_object_is_kept_with_its_result(given: Any, raw: str) -> None:
    wrong = {"type": "tool_use", "id": "a", "name": "T", "input": given}
    history = repair(messages([user("go"), said(wrong), result("a")]))
    called = ToolUse("a", "T", {UNPARSED_INPUT: {"raw": raw, "len": len(raw)}})
    assert [m.blocks for m in history[1:3]] == [[called], [ToolResult("a", "r")]]
