"""Messages events become deltas and blocks."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest

from forge.core.message import UNPARSED_INPUT, Message, RedactedThinking, Text, Thinking, ToolUse, Usage
from forge.core.model import BlockDelta, BlockFinished, Delta, Ending, Finished, Started
from forge.core.models.assemble import Assembler, parse_input, read_usage
from forge.core.models.sse import Parser
from forge.foundation.errors import ModelError

START = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": {"input_tokens": 3}}}
STOP = {"type": "message_stop"}


def delta(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def block(opening: dict[str, Any], *deltas: dict[str, Any], index: int = 0) -> list[dict[str, Any]]:
    start = {"type": "content_block_start", "index": index, "content_block": opening}
    return [start, *deltas, {"type": "content_block_stop", "index": index}]


def assemble(*events: dict[str, Any]) -> tuple[list[Delta], Finished]:
    assembler = Assembler("p/m", "req_1")
    deltas = [d for event in events for d in assembler.feed(event)]
    return deltas, assembler.finish()


def blocks(*events: dict[str, Any]) -> list[Any]:
    return assemble(START, *events, STOP)[1].message.blocks


def test_a_reply_carries_ids_usage_and_stop_reason() -> None:
    usage = {"input_tokens": 3, "output_tokens": 9, "cache_read_input_tokens": None}
    ending = {"stop_reason": "refusal", "stop_details": {"category": "x"}}
    deltas, finished = assemble(START, {"type": "message_delta", "delta": ending, "usage": usage}, STOP)
    assert [type(d) for d in deltas] == [Started, Ending, Ending]
    assert finished == Finished(
        message=Message("assistant", [], id="msg_1", made_by="p/m"),
        stop_reason="refusal",
        usage=Usage(input=3, output=9),
        model="m",
        request_id="req_1",
        stop_details={"category": "x"},
    )


@pytest.mark.parametrize(
    ("opening", "deltas", "expected"),
    [
        (
            {"type": "text", "text": ""},
            [delta("text_delta", text="a"), delta("text_delta", text="b")],
            Text("ab"),
        ),
        ({"type": "text", "text": "", "citations": None}, [delta("text_delta", text="a")], Text("a")),
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [delta("thinking_delta", thinking="t"), delta("signature_delta", signature="s")],
            Thinking("t", "s"),
        ),
        ({"type": "thinking", "thinking": ""}, [delta("signature_delta", signature="s")], Thinking("", "s")),
        ({"type": "redacted_thinking", "data": "xyz"}, [], RedactedThinking("xyz")),
        ({"type": "tool_use", "id": "i", "name": "n", "input": {}}, [], ToolUse("i", "n", {})),
        (
            {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}, "caller": {"type": "direct"}},
            [],
            ToolUse("i", "n", {"a": 1}),
        ),
        (
            {"type": "server_tool_use", "id": "i", "name": "web_search", "input": {}},
            [delta("input_json_delta", partial_json='{"q": "x"}')],
            {"type": "server_tool_use", "id": "i", "name": "web_search", "input": {"q": "x"}},
        ),
        (
            {"type": "text", "text": ""},
            [delta("text_delta", text="a"), delta("citations_delta", citation={"n": 1})],
            {"type": "text", "text": "a", "citations": [{"n": 1}]},
        ),
        (
            {"type": "compaction", "content": ""},
            [delta("compaction_delta", content="so "), delta("compaction_delta", content="far")],
            {"type": "compaction", "content": "so far"},
        ),
        ({"type": "brand_new", "x": [1]}, [delta("newer", x=[2])], {"type": "brand_new", "x": [1, 2]}),
    ],
)
def test_blocks_are_built_and_unknown_ones_kept(
    opening: dict[str, Any], deltas: list[dict[str, Any]], expected: object
) -> None:
    assert blocks(*block(opening, *deltas)) == [expected]


def test_unknown_deltas_are_passed_on_with_their_event() -> None:
    raw = delta("brand_new", x=1)
    deltas, _ = assemble(START, *block({"type": "text", "text": ""}, raw), STOP)
    assert BlockDelta(raw, 0, "other", "") in deltas


def test_interleaved_blocks_come_out_in_order() -> None:
    first = block({"type": "tool_use", "id": "a", "name": "A", "input": {}})
    second = block({"type": "tool_use", "id": "b", "name": "B", "input": {}}, index=1)
    found = blocks(
        first[0],
        second[0],
        delta("input_json_delta", 1, partial_json='{"x"'),
        delta("input_json_delta", 0, partial_json='{"y": 1}'),
        delta("input_json_delta", 1, partial_json=": 2}"),
        second[1],
        first[1],
    )
    assert found == [ToolUse("a", "A", {"y": 1}), ToolUse("b", "B", {"x": 2})]


def test_missing_starts_and_stops_of_blocks_are_made_up() -> None:
    deltas, finished = assemble(START, delta("text_delta", text="hi"), STOP)
    assert finished.message.blocks == [Text("hi")]
    assert [d.block for d in deltas if isinstance(d, BlockFinished)] == [Text("hi")]


@pytest.mark.parametrize("events", [[], [START], [START, *block({"type": "text", "text": "x"})]])
def test_a_stream_without_its_end_is_an_error(events: list[dict[str, Any]]) -> None:
    with pytest.raises(ModelError) as caught:
        assemble(*events)
    assert (caught.value.kind, caught.value.retryable) == ("malformed_stream", True)
    assert caught.value.answer.request_id == "req_1"


def test_usage_is_replaced_not_added() -> None:
    amended = {"output_tokens": 5, "input_tokens": 3, "cache_read_input_tokens": 2}
    events = [{"type": "message_delta", "delta": {}, "usage": amended}] * 2
    assert assemble(START, *events, STOP)[1].usage == Usage(input=3, output=5, cache_read=2)


def test_all_usage_fields_are_read() -> None:
    raw = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3},
        "output_tokens_details": {"thinking_tokens": 6},
        "server_tool_use": {"web_search_requests": 7},
    }
    assert read_usage(raw) == Usage(1, 2, 3, 4, 3, 6, 7)


def test_arguments_nested_too_deeply_are_kept_as_text() -> None:
    raw = '{"a":' + "[" * 100_000
    assert parse_input(raw) == {UNPARSED_INPUT: {"raw": raw, "len": len(raw)}}


def test_a_reply_without_stop_reason_gets_one_from_its_blocks() -> None:
    call = block({"type": "tool_use", "id": "a", "name": "A", "input": {}})
    assert assemble(START, STOP)[1].stop_reason == "end_turn"
    assert assemble(START, *call, STOP)[1].stop_reason == "tool_use"


@pytest.mark.parametrize(("raw", "value"), [("", {}), (" null ", {}), ('{"a":[1]}', {"a": [1]})])
def test_arguments_are_parsed(raw: str, value: dict[str, Any]) -> None:
    assert parse_input(raw) == value


def test_ten_thousand_deltas_cost_well_under_a_second() -> None:
    event = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
    raw = (event + b'{"type":"text_delta","text":"word "}}\n\n') * 10_000

    began = time.process_time()
    parser, assembler, count = Parser(), Assembler("p/m"), 0
    for at in range(0, len(raw), 1_500):
        for data in parser.feed(raw[at : at + 1_500]):
            count += len(assembler.feed(msgspec.json.decode(data)))
    assert count == 10_000
    assert time.process_time() - began < 1
