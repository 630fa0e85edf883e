from __future__ import annotations

from typing import Any

import pytest

from unit.core.models.claude_cli.printed import (
    Line,
    begin,
    call,
    closed,
    event,
    init,
    mapped,
    opened,
    piece,
    raw_input,
    result,
    stopped,
    stopping,
    streamed,
    text,
    whole,
)

TOKENS = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}


def step(*parts: Line, number: int = 1, reason: str = "stop", **more: Any) -> list[Line]:
    finish = {"type": "step-finish", "step": number, "reason": reason, "cost_usd": 0, "tokens": TOKENS}
    return [{"type": "step-start", "step": number}, *parts, {**finish, **more}]


def append(part: int, words: str) -> Line:
    return {"part": part, "op": "append", "text": words}


@pytest.mark.requirement("S4-15", "S4-16")
def test_streamed_text_is_a_part_between_the_marks_of_its_step() -> None:
    got = mapped(init(), *streamed("Hello"), result())
    assert (got["parts"], got["deltas"]) == (step(text("Hello")), [append(1, "Hello")])


@pytest.mark.parametrize(
    "lines",
    [
        # The whole line comes before the end of the block, as all versions print it.
        [begin(), opened(0), piece(0, "a"), piece(0, "b"), whole(text("ab")), closed(0)],
        # Later than expected, and twice with the same uuid.
        [begin(), opened(0), piece(0, "ab"), closed(0), *[whole(text("ab"), line={"uuid": "u1"})] * 2],
        # The start of the message holds text that is sent again.
        [begin(content=[text("a")]), opened(0), piece(0, "ab"), whole(text("ab")), closed(0)],
        # So does the start of the block.
        [begin(), opened(0, text="a"), piece(0, "ab"), whole(text("ab")), closed(0)],
        # A delta was lost: the whole line has the rest.
        [begin(), opened(0), piece(0, "a"), whole(text("ab")), closed(0)],
        # A line is printed twice.
        [
            begin(),
            opened(0),
            {**piece(0, "a"), "uuid": "x"},
            {**piece(0, "a"), "uuid": "x"},
            whole(text("ab")),
        ],
        # Events about blocks nobody has opened, and of kinds nobody knows.
        [begin(), opened(0), piece(7, "?"), event("content_block_new"), piece(0, "ab"), whole(text("ab"))],
        # No whole line at all.
        [begin(), opened(0), piece(0, "ab"), closed(0)],
        # Only the whole line.
        [begin(), whole(text("ab"))],
    ],
)
def test_streamed_and_whole_text_are_one_part(lines: list[Line]) -> None:
    got = mapped(*lines, stopping("end_turn"), stopped(), result())
    assert got["parts"] == step(text("ab"))
    assert "".join(row["text"] for row in got["deltas"]) == "ab"


def test_whole_line_that_says_something_else_resets_the_text() -> None:
    got = mapped(begin(), opened(0), piece(0, "old"), whole(text("new")), stopping("end_turn"), stopped())
    assert got["deltas"] == [append(1, "old"), {"part": 1, "op": "reset", "text": "new"}]
    assert got["parts"] == step(text("new"))


def test_late_whole_line_confirms_its_block_after_the_step() -> None:
    got = mapped(*streamed("one"), *streamed("two", message_id="msg_2"), whole(text("one")), result())
    assert got["parts"] == [*step(text("one")), *step(text("two"), number=2)]


def test_thinking_keeps_signature_and_opaque_blocks() -> None:
    got = mapped(
        begin(),
        opened(0, "thinking", thinking="", signature=""),
        piece(0, "hm", "thinking"),
        event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "s1"}),
        closed(0),
        opened(1, "redacted_thinking", data="x"),
        whole({"type": "redacted_thinking", "data": "x"}),
        opened(2, "thinking"),
        whole({"type": "thinking", "thinking": "so", "signature": "s2"}),
        stopping("end_turn"),
        stopped(),
    )
    assert got["parts"] == step(
        {"type": "reasoning", "text": "hm", "signature": "s1"},
        {"type": "reasoning", "text": "", "signature": None, "redacted": "x"},
        {"type": "reasoning", "text": "so", "signature": "s2"},
    )


@pytest.mark.requirement("S4-18")
@pytest.mark.parametrize(
    ("pieces", "line", "given"),
    [
        (["", '{"a"', ": 1}"], None, {"a": 1}),
        ([], None, {}),
        ([""], None, {}),
        (['{"a": 1}'], call(a=2), {"a": 2}),
        (['{"a": '], None, {"__unparsedToolInput": {"raw": '{"a": ', "len": 6}}),
        (["[1]"], None, {"__unparsedToolInput": {"raw": "[1]", "len": 3}}),
        (
            ['{"a"'],
            call(__unparsedToolInput={"raw": "r", "len": 1}),
            {"__unparsedToolInput": {"raw": "r", "len": 1}},
        ),
        ([], {**call(), "input": "text"}, {"__unparsedToolInput": "text"}),
    ],
)
def test_input_of_a_call_is_that_of_the_whole_line_or_what_was_streamed(
    pieces: list[str], line: Line | None, given: Line
) -> None:
    got = mapped(
        begin(),
        opened(0, "tool_use", id="t1", name="Bash", input={}),
        *[raw_input(0, words) for words in pieces],
        *([whole(line)] if line else []),
        closed(0),
        stopping("tool_use"),
        stopped(),
    )
    part = {
        "type": "tool",
        "call_id": "t1",
        "name": "Bash",
        "input": given,
        "status": "pending",
        "output": None,
    }
    assert got["parts"] == step(part, reason="tool-calls")


def test_events_of_a_call_that_name_it_as_their_parent_stay_in_the_main_thread() -> None:
    own = {"parent_tool_use_id": "t1"}
    got = mapped(
        begin(),
        {**opened(0, "tool_use", id="t1", name="Bash", input={}), **own},
        {**raw_input(0, '{"a": 1}'), **own},
        whole(call(a=1), line=own),
        {**closed(0), **own},
        stopping("tool_use"),
        stopped(),
    )
    assert (got["children"], got["parts"][1]["input"]) == ({}, {"a": 1})


def abandoned(first: Any, message_id: str = "msg_1") -> Line:
    return stopped({"abandoned_blocks": {"api_message_id": message_id, "from_block_index": first}})


def test_abandoned_text_is_taken_back_and_its_step_used_again() -> None:
    got = mapped(
        begin(),
        opened(0),
        piece(0, "one "),
        closed(0),
        abandoned(0),
        *streamed("two", message_id="msg_2"),
        result(),
    )
    retract = {"part": 1, "op": "retract", "text": "one "}
    assert got["deltas"] == [append(1, "one "), retract, append(1, "two")]
    assert got["parts"] == step(text("two"))
    assert got["retracted"] == [{"message": "msg_1", "from_block": 0, "text": "one "}]


def test_confirmed_blocks_stay_when_later_ones_are_abandoned() -> None:
    got = mapped(
        begin(),
        opened(0),
        whole(text("kept")),
        opened(1),
        piece(1, "gone"),
        opened(2, "tool_use", id="t1", name="Bash"),
        abandoned(0),
        *streamed("two", message_id="msg_2"),
    )
    first = step(text("kept"), tokens={**TOKENS, "output": 1})
    assert got["parts"] == [*first, *step(text("two"), number=2)]
    assert got["retracted"] == [{"message": "msg_1", "from_block": 0, "text": "gone"}]
    assert got["deltas"][-2:] == [{"part": 2, "op": "retract", "text": "gone"}, append(4, "two")]


@pytest.mark.parametrize(
    "cut",
    [[begin()], [begin(), abandoned(0)], [begin(), opened(0)], [begin(), opened(0), closed(0), abandoned(0)]],
)
def test_message_that_was_cut_before_its_first_word_leaves_no_step(cut: list[Line]) -> None:
    assert mapped(*cut, *streamed("two", message_id="msg_2"), result())["parts"] == step(text("two"))


def test_message_without_content_is_a_step_of_its_own() -> None:
    got = mapped(begin(), stopping("end_turn"), stopped(), *streamed("two", message_id="msg_2"))
    assert got["parts"] == [*step(), *step(text("two"), number=2)]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool-calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content-filter"),
        ("pause_turn", "pause"),
        ("something_new", "stop"),
    ],
)
def test_reason_of_a_step_is_what_the_stream_says(told: str, reason: str) -> None:
    final = mapped(*streamed("hi", told), result())
    assert (final["parts"][-1]["reason"], final["final"]["finish"]) == (reason, reason)


def test_message_that_never_says_why_it_ends_gets_its_reason_from_its_content() -> None:
    got = mapped(
        begin(), opened(0), piece(0, "a"), closed(0), begin("msg_2"), whole(call(), by="msg_2"), result()
    )
    reasons = [part["reason"] for part in got["parts"] if part["type"] == "step-finish"]
    assert reasons == ["stop", "tool-calls"]


def test_tokens_of_a_step_are_replaced_by_later_totals() -> None:
    usage = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 3}
    late = event("message_delta", delta={}, usage={"output_tokens": 9, "cache_creation_input_tokens": 4})
    got = mapped(begin(usage=usage), opened(0), piece(0, "a"), stopping("end_turn", 5), late, stopped())
    assert got["parts"][-1]["tokens"] == {"input": 7, "output": 9, "cache_read": 3, "cache_write": 4}
