from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forge.core.message import (
    Block,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    decode_block,
    decode_blocks,
)

KNOWN: list[tuple[dict[str, Any], Block]] = [
    ({"type": "text", "text": "a"}, Text("a")),
    ({"type": "thinking", "thinking": "t", "signature": "s"}, Thinking("t", "s")),
    ({"type": "tool_use", "id": "1", "name": "Bash", "input": {"a": 1}}, ToolUse("1", "Bash", {"a": 1})),
    ({"type": "tool_result", "tool_use_id": "1", "content": "x"}, ToolResult("1", "x")),
    (
        {
            "type": "tool_result",
            "tool_use_id": "1",
            "content": [{"type": "text", "text": "a"}],
            "is_error": True,
        },
        ToolResult("1", [Text("a")], True),
    ),
]
# What is not known exactly is sent back exactly as it came.
KEPT: list[dict[str, Any]] = [
    {"type": "text", "text": "a", "citations": []},
    {"type": "text", "text": 1},
    {"type": "server_tool_use", "id": "1"},
    {"type": ["text"]},
    {"text": "a"},
    {"type": "tool_result", "tool_use_id": "1", "content": "x", "cache_control": {}},
    {"type": "tool_result", "content": "x"},
    {"type": "tool_result", "tool_use_id": 1, "content": "x"},
]


@pytest.mark.parametrize(("raw", "block"), KNOWN)
def test_a_known_block_is_read_and_written_alike(raw: dict[str, Any], block: Block) -> None:
    assert (decode_block(raw), msgspec.to_builtins(block)) == (block, raw)


@pytest.mark.parametrize("raw", KEPT)
def test_a_block_with_anything_unknown_stays_as_it_is(raw: dict[str, Any]) -> None:
    assert decode_block(raw) is raw


def test_plain_text_is_one_block() -> None:
    assert decode_blocks("hi") == [Text("hi")]
    assert decode_blocks([{"type": "text", "text": "hi"}, KEPT[0]]) == [Text("hi"), KEPT[0]]


def test_a_message_knows_its_text_and_its_calls() -> None:
    call = ToolUse("1", "Bash", {})
    message = Message(
        "assistant", [Thinking("t", "s"), Text("a"), call, KEPT[0], {"type": "odd", "text": "b"}]
    )
    assert (message.text, message.calls) == ("aa", [call])


def test_usages_are_added_and_taken_apart_field_by_field() -> None:
    one, two = Usage(1, 2, 3, 4, 5, 6, 7), Usage(10, 20, 30, 40, 50, 60, 70)
    assert one + two == Usage(11, 22, 33, 44, 55, 66, 77)
    assert (one + two - two, one.context) == (one, 10)
