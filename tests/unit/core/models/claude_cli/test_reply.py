from __future__ import annotations

from typing import Any

import pytest

from forge.core.message import (
    UNPARSED_INPUT,
    Block,
    Image,
    Source,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from forge.core.model import Delta, Finished, Retrying
from forge.core.models.claude_cli.changes import StepFinished
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import Failure
from forge.core.models.claude_cli.reply import Reply, model_error
from unit.core.models.claude_cli.printed import (
    Line,
    answer,
    begin,
    call,
    closed,
    event,
    fed,
    init,
    opened,
    piece,
    raw_input,
    result,
    stopped,
    stopping,
    streamed,
    system,
    text,
    whole,
)


def replied(*lines: Line, **named: Any) -> tuple[list[Delta], Reply]:
    """All deltas up to the end of the first step."""
    reply = Reply("claude-code/sonnet", **named)
    deltas: list[Delta] = []
    for change in fed(Mapper(), *lines):
        deltas += reply.take(change)
        if isinstance(change, StepFinished):
            break
    return deltas, reply


def names(deltas: list[Delta]) -> list[str]:
    return [type(delta).__name__ for delta in deltas]


def blocks(*lines: Line, **named: Any) -> list[Block]:
    return replied(*lines, **named)[1].finish().message.blocks


def test_streamed_message_becomes_a_reply_like_that_of_any_provider() -> None:
    deltas, reply = replied(init(), *streamed("Hi", "max_tokens"))
    assert names(deltas) == ["Started", "BlockStarted", "BlockDelta", "BlockFinished", "Ending", "Ending"]
    finished = reply.finish(cost=0.5)
    assert isinstance(finished, Finished)
    assert (finished.message.blocks, finished.message.id) == ([Text("Hi")], "msg_1")
    assert (finished.message.made_by, finished.model) == ("claude-code/sonnet", "m1")
    assert (finished.stop_reason, finished.usage, finished.cost_usd) == ("max_tokens", Usage(10, 5), 0.5)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("tool_use", "tool_use"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
        ("model_context_window_exceeded", "max_tokens"),
    ],
)
def test_stop_reason_is_one_of_the_usual_words(told: str, reason: str) -> None:
    assert replied(*streamed("hi", told))[1].finish().stop_reason == reason


def test_whole_lines_alone_make_the_same_reply() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    lines = [whole(thought), whole(text("Hi")), whole(call("t1", a=1)), result()]
    assert blocks(*lines) == [Thinking("hm", "s"), Text("Hi"), ToolUse("t1", "Bash", {"a": 1})]


def test_call_has_the_name_the_session_knows_and_its_streamed_input() -> None:
    wire = "mcp__forge__Bash"
    lines = [
        begin(),
        opened(0, "tool_use", id="t1", name=wire, input={}),
        raw_input(0, '{"a": '),
        raw_input(0, "1}"),
        whole(call("t1", wire, a=1)),
        closed(0),
        stopping("tool_use"),
        stopped(),
    ]
    assert blocks(*lines, names={wire: "Bash"}) == [ToolUse("t1", "Bash", {"a": 1})]


@pytest.mark.parametrize(
    "given", [{UNPARSED_INPUT: {"raw": '{"a', "len": 3}}, {UNPARSED_INPUT: '{"a'}]
)  # what the CLI puts there, and what the mapper does
def test_input_that_is_no_json_is_kept_as_text(given: Line) -> None:
    assert blocks(whole({**call(), "input": given}), result()) == [
        ToolUse("t1", "Bash", {UNPARSED_INPUT: {"raw": '{"a', "len": 3}})
    ]


def test_retracted_and_replaced_text_begins_the_reply_anew() -> None:
    abandoned = {"abandoned_blocks": {"api_message_id": "msg_1", "from_block_index": 1}}
    lines = [
        begin(),
        opened(0),
        piece(0, "a"),
        whole(text("b")),
        opened(1),
        piece(1, "gone"),
        stopped(abandoned),
    ]
    deltas, reply = replied(*lines, whole(text("c"), stop_reason="end_turn"), result())
    assert names(deltas) == [
        *("Started", "BlockStarted", "BlockDelta"),
        *("Retrying", "Started", "BlockStarted", "BlockDelta", "BlockFinished"),
        *("BlockStarted", "BlockDelta"),
        *("Retrying", "Started", "BlockStarted", "BlockDelta", "BlockFinished"),
        *("BlockStarted", "BlockDelta", "BlockFinished", "Ending", "Ending"),
    ]
    assert reply.finish().message.blocks == [Text("b"), Text("c")]


def test_retry_of_the_cli_is_passed_on() -> None:
    retry = system(
        "api_retry", attempt=1, max_retries=10, retry_delay_ms=5, error_status=500, error="server_error"
    )
    deltas, _ = replied(init(), retry, *streamed("hi"))
    assert deltas[0] == Retrying(1, 10, 5.0, 500, "server_error")


def test_results_of_calls_the_cli_has_run_are_part_of_the_reply() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "eA=="}
    image = {"type": "image", "source": source}
    lines = [
        *(whole(call("t1")), whole(call("t2")), whole(call("t3"))),
        answer("t2", "no", is_error=True),
        answer("t1", [text("see"), image]),
        answer("t3", ""),
        {**whole(text("of a sub-agent"), by="msg_9"), "parent_tool_use_id": "t1"},
        result(),
    ]
    _, reply = replied(*lines)
    seen = Image(Source("base64", "image/png", "eA=="))
    assert reply.finish().results == [
        ToolResult("t2", "no", True),
        ToolResult("t1", [Text("see"), seen]),
        ToolResult("t3", ""),
    ]


def test_unfinished_blocks_are_finished_with_the_step() -> None:
    signed = event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "s"})
    lines = [begin(), opened(0, "thinking"), piece(0, "hm", "thinking"), signed, closed(0)]
    assert blocks(*lines, stopping("end_turn"), stopped()) == [Thinking("hm", "s")]


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure("api_error", 401, "authentication_error", "Invalid key"), "authentication_failed"),
        (Failure("api_error", None, None, "Not logged in", "authentication_failed"), "authentication_failed"),
        (Failure("api_error", 529, "overloaded_error", "busy", "server_error"), "overloaded"),
        (Failure("api_error", 400, "invalid_request_error", "Prompt is too long"), "context_overflow"),
        (Failure("max_turns", None, "error_max_turns", "Reached 2"), "unknown"),
        (Failure("exit", 1, None, "bad option"), "unknown"),
    ],
)
def test_failure_is_an_error_nobody_tries_again(failure: Failure, kind: str) -> None:
    error = model_error(failure)
    assert (error.message, error.kind, error.retryable) == (failure.message, kind, False)
