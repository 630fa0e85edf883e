from __future__ import annotations

import json
from typing import Any

import pytest

from forge.core.message import ToolResult
from forge.hosts.line import MOST_BYTES, encode_line

LONG = "x" * 3_000_000


def test_a_line_of_usual_length_is_left_alone() -> None:
    assert json.loads(encode_line({"type": "user", "text": "x" * 500_000})) == {
        "type": "user",
        "text": "x" * 500_000,
    }


@pytest.mark.parametrize(
    "record",
    [
        {"tool_use_result": {"originalFile": LONG}},
        {"message": {"content": [ToolResult("t1", LONG)]}},
        {"tool_use_result": {"lines": ["y" * 50] * 100_000}},
        {"tool_use_result": [{"deep": [LONG] * 2}] * 3},
        {"message": {"content": [{"type": "image", "source": {"type": "base64", "data": LONG}}]}},
    ],
    ids=["structured text", "text for the model", "many lines", "many long texts", "picture"],
)
def test_long_records_are_cut_and_stay_records(record: dict[str, Any]) -> None:
    line = encode_line({"type": "user", "uuid": "u", **record})
    assert len(line) <= MOST_BYTES
    told = json.loads(line)
    assert (told["type"], told["uuid"], set(told)) == ("user", "u", {"type", "uuid", *record})


def test_structured_data_is_cut_before_what_the_model_reads() -> None:
    words = "z" * 200_000
    record = {"message": {"content": words}, "tool_use_result": {"originalFile": LONG}}
    told = json.loads(encode_line(record))
    assert told["message"]["content"] == words
    assert told["tool_use_result"]["originalFile"].endswith("… [2900000 more characters]")
