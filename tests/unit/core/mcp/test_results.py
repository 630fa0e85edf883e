from __future__ import annotations

from typing import Any

import pytest

from forge.core.mcp.results import content, is_error, plain_text
from forge.core.message import Image, Source, Text

PARTS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "text", "text": "a"}, Text("a")),
    (
        {"type": "image", "mimeType": "image/png", "data": "QQ=="},
        Image(Source("base64", "image/png", "QQ==")),
    ),
    (
        {"type": "image", "mimeType": "image/tiff", "data": "QQ=="},
        Text("[image content (image/tiff), not shown]"),
    ),
    ({"type": "resource_link", "name": "n", "uri": "file:///x"}, Text("[Resource link: n] file:///x")),
    (
        {"type": "resource", "resource": {"uri": "u", "text": "words"}},
        Text("[Resource from srv at u] words"),
    ),
    (
        {"type": "resource", "resource": {"uri": "u", "blob": "QQ==", "mimeType": "image/png"}},
        Text("[Resource from srv at u] (image/png, not shown)"),
    ),
    ({"type": "audio", "mimeType": "audio/wav"}, Text("[audio content (audio/wav), not shown]")),
    ({}, Text("[unknown content, not shown]")),
]


@pytest.mark.parametrize(("part", "expected"), PARTS)
def test_each_part_becomes_a_block(part: dict[str, Any], expected: Any) -> None:
    assert content({"content": [part]}, "srv") == [expected]


def test_a_structured_value_stands_for_the_text() -> None:
    told = {"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": [1, "ü"]}}
    assert content(told, "srv") == '{"a":[1,"ü"]}'


@pytest.mark.parametrize("broken", [{}, {"content": None}, {"content": "a"}, {"content": [1, None]}])
def test_a_result_of_the_wrong_shape_is_empty(broken: dict[str, Any]) -> None:
    assert (content(broken, "srv"), plain_text(broken), is_error(broken)) == ([], "", False)


def test_an_error_is_told_as_plain_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert (plain_text({"content": parts}), is_error({"isError": True})) == ("a\nb", True)
