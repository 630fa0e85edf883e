"""The odd ways in which compatible servers stream a chat completion."""

from __future__ import annotations

from typing import Any

import pytest

from forge.core.message import Text, Thinking, ToolUse, Usage
from forge.core.model import Finished
from forge.core.models.assemble import Assembler
from forge.core.models.chat_stream import STATE, ChatStream, ThinkTag
from forge.foundation.errors import ModelError

Json = dict[str, Any]


def chunk(finish: str | None = None, **delta: Any) -> Json:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(
    arguments: Any = None, *, name: str | None = None, id: str | None = None, index: int | None = None
) -> Json:
    entry: Json = {"function": {"arguments": arguments}}
    if name is not None:
        entry["function"]["name"] = name
    if id is not None:
        entry["id"] = id
    if index is not None:
        entry["index"] = index
    return chunk(tool_calls=[entry])


def read(*chunks: Json, done: bool = True) -> Finished:
    stream, assembler = ChatStream("m"), Assembler("p/m")
    events = [event for raw in chunks for event in stream.feed(raw)] + stream.end(done=done)
    for event in events:
        assembler.feed(event)
    return assembler.finish()


def calls(*chunks: Json) -> list[tuple[str, Json]]:
    return [(c.name, c.input) for c in read(*chunks, chunk("tool_calls")).message.calls]


A1, B2 = ("A", {"x": 1}), ("B", {"y": 2})


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(
            [
                call("", name="A", id="i1", index=0),
                call('{"x"', index=0),
                call(": 1}", index=0),
                call("", name="B", id="i2", index=1),
                call('{"y": 2}', index=1),
            ],
            id="by the book",
        ),
        pytest.param(
            [
                call("", name="A", id="i1", index=0),
                call("", name="B", id="i2", index=1),
                call('{"y"', index=1),
                call('{"x": 1}', index=0),
                call(": 2}", index=1),
            ],
            id="interleaved",
        ),
        pytest.param(
            [call('{"x": 1}', name="A", id="i1", index=0), call('{"y": 2}', name="B", id="i2", index=0)],
            id="index always 0, new ids",
        ),
        pytest.param(
            [call('{"x": 1}', name="A", index=0), call('{"y": 2}', name="B", index=0)],
            id="index always 0, no ids",
        ),
        pytest.param(
            [call('{"x": 1}', name="A", id="i1"), call('{"y": ', name="B", id="i2"), call("2}")],
            id="no index",
        ),
        pytest.param(
            [call('{"x": 1}', name="A", id="same", index=0), call('{"y": 2}', name="B", id="same", index=1)],
            id="same id twice",
        ),
        pytest.param(
            [call({"x": 1}, name="A", id="i1", index=0), call({"y": 2}, name="B", id="i2", index=1)],
            id="arguments as objects",
        ),
        pytest.param(
            [
                call('{"x"', name="A", id="i1", index=0),
                call(": 1}", name="A", id="i1", index=0),
                call('{"x": 1}', name="A", id="i1", index=0),
                call('{"y": 2}', name="B", id="i2", index=1),
            ],
            id="id and name in every piece, the whole said once more",
        ),
        pytest.param(
            [
                chunk(
                    tool_calls=[
                        {"id": "i1", "function": {"name": "A", "arguments": '{"x": 1}'}},
                        {"id": "i2", "function": {"name": "B", "arguments": '{"y": 2}'}},
                    ]
                )
            ],
            id="both in one chunk without index",
        ),
    ],
)
def test_two_calls_are_told_apart(chunks: list[Json]) -> None:
    assert calls(*chunks) == [A1, B2]
    ids = [c.id for c in read(*chunks, chunk("tool_calls")).message.calls]
    assert len(set(ids)) == 2


def test_the_same_tool_twice_without_ids_is_two_calls() -> None:
    assert calls(call('{"x": 1}', name="A", index=0), call('{"x": 2}', name="A", index=0)) == [
        A1,
        ("A", {"x": 2}),
    ]


@pytest.mark.parametrize("arguments", [None, "", "{}"])
def test_missing_arguments_are_an_empty_object(arguments: str | None) -> None:
    assert calls(call(arguments, name="A", id="i")) == [("A", {})]


def test_the_old_function_call_field_is_understood() -> None:
    raw = [
        chunk(function_call={"name": "A", "arguments": '{"x"'}),
        chunk(function_call={"arguments": ": 1}"}),
    ]
    assert calls(*raw) == [A1]


@pytest.mark.parametrize(
    ("chunks", "done", "reason"),
    [
        ([chunk(content="a"), chunk("stop")], True, "end_turn"),
        ([chunk(content="a"), chunk("stop")], False, "end_turn"),
        ([chunk(content="a")], True, "end_turn"),
        ([chunk(content="a"), chunk("length")], True, "max_tokens"),
        ([chunk(content="a"), chunk("content_filter")], True, "refusal"),
        ([chunk(refusal="I will not."), chunk("stop")], True, "refusal"),
        ([call("{}", name="A", id="i"), chunk("stop")], True, "tool_use"),
        ([call("{}", name="A", id="i")], True, "tool_use"),
        ([call('{"x', name="A", id="i"), chunk("length")], True, "max_tokens"),
    ],
)
def test_stop_reasons_are_found_even_when_wrong_or_missing(
    chunks: list[Json], done: bool, reason: str
) -> None:
    assert read(*chunks, done=done).stop_reason == reason


def test_a_stream_with_neither_reason_nor_end_mark_was_cut_off() -> None:
    with pytest.raises(ModelError, match="middle of the answer"):
        read(chunk(content="a"), done=False)


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk(reasoning_content="hm "), chunk(reasoning_content="ok"), chunk(content="yes")],
        [chunk(reasoning="hm "), chunk(reasoning="ok"), chunk(content="yes")],
        [
            chunk(reasoning_details=[{"type": "reasoning.text", "text": "hm ok", "index": 0}]),
            chunk(content="yes"),
        ],
        [chunk(content="<think>hm ok</think>\n\nyes")],
        [chunk(content=piece) for piece in "\n<think>hm ok</think>yes"],
    ],
)
def test_reasoning_is_found_wherever_it_is_put(chunks: list[Json]) -> None:
    thought, answer = read(*chunks, chunk("stop")).message.blocks
    assert isinstance(thought, Thinking)
    assert (thought.thinking, answer) == ("hm ok", Text("yes"))


@pytest.mark.parametrize("text", ["<thin ice>", "a <think>b</think>", "<", "plain"])
def test_other_angle_brackets_are_text(text: str) -> None:
    assert read(*(chunk(content=c) for c in text), chunk("stop")).message.text == text


def test_a_think_tag_that_never_ends_is_all_thinking() -> None:
    tag = ThinkTag()
    found = [*tag.feed("<think>a </thi"), tag.rest()]
    assert found == [("thinking", "a "), ("thinking", "</thi")]


def test_reasoning_details_are_merged_and_kept_for_the_next_request() -> None:
    pieces = [
        chunk(reasoning="h", reasoning_details=[{"type": "reasoning.text", "text": "h", "index": 0}]),
        chunk(
            reasoning="m",
            reasoning_details=[{"type": "reasoning.text", "text": "m", "index": 0, "signature": "s"}],
        ),
        call("{}", name="A", id="i"),
    ]
    thought = read(*pieces, chunk("tool_calls")).message.blocks[0]
    details = '[{"type":"reasoning.text","text":"hm","index":0,"signature":"s"}]'
    assert thought == Thinking("hm", f'{STATE}{{"details":{details}}}')


def test_encrypted_details_without_text_are_kept_too() -> None:
    piece = chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "x", "index": 0}])
    blocks = read(piece, call("{}", name="A", id="i"), chunk("tool_calls")).message.blocks
    assert blocks == [
        ToolUse("i", "A", {}),
        Thinking("", STATE + '{"details":[{"type":"reasoning.encrypted","data":"x","index":0}]}'),
    ]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, Usage(input=10, output=5)),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            Usage(input=6, output=5, cache_read=4),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 3},
            },
            Usage(input=5, output=5, cache_read=2, cache_write=3),
        ),
    ],
)
def test_usage_is_read_from_a_chunk_of_its_own_or_any_other(usage: Json, expected: Usage) -> None:
    own: Json = {"choices": [], "usage": usage}
    assert read(chunk(content="a"), chunk("stop"), own).usage == expected
    assert read(chunk(content="a"), {**chunk("stop"), "usage": usage}).usage == expected
    assert read(chunk(content="a"), {**chunk("stop"), "x_groq": {"usage": usage}}).usage == expected


def test_a_stream_without_usage_counts_nothing() -> None:
    assert read(chunk(content="a"), chunk("stop")).usage == Usage()


def test_a_whole_answer_instead_of_a_stream_is_understood() -> None:
    message = {"role": "assistant", "content": "hi", "tool_calls": [{"id": "i", "function": {"name": "A"}}]}
    document = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert read(document).message.blocks == [Text("hi"), ToolUse("i", "A", {})]


def test_content_in_parts_is_joined() -> None:
    assert (
        read(chunk(content=[{"type": "text", "text": "a"}, {"text": "b"}]), chunk("stop")).message.text
        == "ab"
    )
