"""The history as it may be sent."""

from __future__ import annotations

from typing import Any

import pytest

from forge.core.message import (
    Block,
    Document,
    Image,
    Message,
    RedactedThinking,
    Source,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from forge.core.model import ModelCard
from forge.core.models.asides import Turn
from forge.core.models.history import tidy
from forge.core.models.names import names_back, short_id, wire_name

CARD = ModelCard("m", "p", "anthropic")
PICTURE = Image(Source("base64", "image/png", "aGk="))


def user(*blocks: Block) -> Message:
    return Message("user", list(blocks))


def assistant(*blocks: Block, made_by: str = "p/m") -> Message:
    return Message("assistant", list(blocks), made_by=made_by)


def test_neighbours_of_one_role_become_one_turn_with_results_first() -> None:
    turns = tidy([user(Text("a")), user(Text("b"), ToolResult("c", "r")), user(ToolResult("d", "s"))], CARD)
    assert turns == [Turn("user", [ToolResult("c", "r"), ToolResult("d", "s"), Text("a"), Text("b")])]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["x", "a", "y", "b"], ["a", "b", "x", "y"]),
        (["x", "think", "y", "b"], ["x", "think", "y", "b"]),
    ],
    ids=["behind words", "not past thoughts"],
)
def test_calls_come_last_in_a_reply(before: list[str], after: list[str]) -> None:
    blocks: dict[str, Block] = {name: ToolUse(name, "T", {}) for name in "xy"}
    blocks |= {"a": Text("a"), "b": Text("b"), "think": Thinking("hm", "s")}
    (turn,) = tidy([assistant(*(blocks[name] for name in before))], CARD)
    assert turn == Turn("assistant", [blocks[name] for name in after])


def test_empty_text_is_left_out_and_empty_messages_vanish() -> None:
    turns = tidy([user(Text("a")), assistant(Text(" \n")), user(Text(""), Text("b"))], CARD)
    assert turns == [Turn("user", [Text("a"), Text("b")])]


@pytest.mark.parametrize(
    ("made_by", "kept"),
    [
        ("p/m", [Thinking("t", "sig"), RedactedThinking("x"), {"type": "odd"}, Text("a")]),
        ("p/other", [{"type": "odd"}, Text("a")]),
        ("q/m", [Text("a")]),
        ("", [Text("a")]),
    ],
)
def test_opaque_blocks_go_back_only_where_they_came_from(made_by: str, kept: list[Any]) -> None:
    blocks: list[Block] = [Thinking("t", "sig"), Thinking("unsigned"), RedactedThinking("x"), {"type": "odd"}]
    assert tidy([assistant(*blocks, Text("a"), Text("."), made_by=made_by)], CARD)[0].blocks[:-1] == kept


def test_the_last_assistant_text_loses_trailing_space() -> None:
    assert tidy([user(Text("a")), assistant(Text("b \n"))], CARD)[-1].blocks == [Text("b")]


def test_models_without_eyes_get_a_note_instead() -> None:
    blind = ModelCard("m", "p", "openai_chat", images=False, documents=False)
    paper = Document(Source("base64", "application/pdf", "aGk="))
    turns = tidy([user(ToolResult("c", [PICTURE, Text("x")]), paper)], blind)
    result, note = turns[0].blocks
    assert isinstance(result, ToolResult)
    assert isinstance(note, Text)
    assert result.content == [Text("[An image was here; this model cannot see images.]"), Text("x")]


def test_call_ids_of_other_providers_are_made_acceptable_on_both_sides() -> None:
    turns = tidy(
        [assistant(ToolUse("functions.Bash:0", "Bash", {})), user(ToolResult("functions.Bash:0", ""))], CARD
    )
    call, result = turns[0].blocks[0], turns[1].blocks[0]
    assert isinstance(call, ToolUse)
    assert isinstance(result, ToolResult)
    assert call.id == result.tool_use_id == wire_name("functions.Bash:0")


@pytest.mark.parametrize("name", ["Bash", "mcp__a-b__c", "x" * 64])
def test_names_that_fit_stay(name: str) -> None:
    assert wire_name(name) == name
    assert names_back([name]) == {}


@pytest.mark.parametrize("name", ["x" * 65, "a.b", "naïve", "", "a b"])
def test_other_names_become_short_distinct_and_reversible(name: str) -> None:
    wire = wire_name(name)
    assert (len(wire) <= 64, wire_name(wire), names_back([name])) == (True, wire, {wire: name})
    assert wire != wire_name(name + "x")


@pytest.mark.parametrize("call_id", ["call_1", "abcDEF123", "x" * 40])
def test_short_ids_have_nine_characters(call_id: str) -> None:
    assert (len(short_id(call_id)), short_id(short_id(call_id))) == (9, short_id(call_id))
