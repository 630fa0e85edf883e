"""Prepares the history for the wire: what a provider would refuse is left out or mended."""

from __future__ import annotations

from collections.abc import Sequence

from forge.core.message import (
    Aside,
    Block,
    Document,
    Image,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from forge.core.model import ModelCard
from forge.core.models.asides import Turn, is_result, with_asides
from forge.core.models.names import wire_name

_NO_IMAGE = Text("[An image was here; this model cannot see images.]")
_NO_DOCUMENT = Text("[A document was here; this model cannot read documents.]")


# Messages already prepared, by identity: a long history is sent with every request, but prepared once.
Memo = dict[int, tuple[Message, Turn | None]]


def tidy(messages: Sequence[Message], card: ModelCard, memo: Memo | None = None) -> list[Turn]:
    """Merges neighbours of one role, puts tool results first and drops what this model may not be sent.

    Thinking goes back only to the model that produced it (`Message.made_by`), other opaque blocks only to the
    same provider.
    """
    turns: list[Turn] = []
    known: Memo = {} if memo is None else memo
    if len(known) > 2 * len(messages) + 100:
        known.clear()
    for message in messages:
        entry = known.get(id(message))
        if entry is None or entry[0] is not message:
            entry = known[id(message)] = (message, _prepared(message, card))
        turn = entry[1]
        if turn is None:
            continue
        if turns and turns[-1].role == turn.role:
            turns[-1] = Turn(turn.role, _in_order(turn.role, turns[-1].blocks + turn.blocks))
        else:
            turns.append(turn)
    turns = with_asides(turns, apart=card.asides and card.protocol == "anthropic")
    _trim_end(turns)
    return turns


def _prepared(message: Message, card: ModelCard) -> Turn | None:
    own = message.role == "user" or message.made_by == card.ref
    blocks = _in_order(message.role, _sendable(message, card, own=own))
    return Turn(message.role, blocks) if blocks else None


def _in_order(role: str, blocks: list[Block]) -> list[Block]:
    """Tool results come first in a user message, calls last in a reply."""
    if role == "user":
        return sorted(blocks, key=lambda block: not is_result(block))
    calls = [isinstance(block, ToolUse) for block in blocks]
    said = blocks[calls.index(True) :] if True in calls else []
    # Thoughts must stay where they were.
    if all(isinstance(block, ToolUse | Text) for block in said):
        return sorted(blocks, key=lambda block: isinstance(block, ToolUse))
    return blocks


def loop_start(turns: list[Turn]) -> int:
    """Where the running tool loop began: the last user turn without tool results."""
    prompts = [n for n, turn in enumerate(turns) if turn.role == "user" and not is_result(turn.blocks[0])]
    return prompts[-1] if prompts else 0


def _sendable(message: Message, card: ModelCard, *, own: bool) -> list[Block]:
    same_house = own or message.made_by.partition("/")[0] == card.provider
    blocks: list[Block] = []
    for block in message.blocks:
        if isinstance(block, Text | Aside):
            if block.text.strip():
                blocks.append(_adapted(block, card))
        elif isinstance(block, Thinking):
            if own and block.signature:
                blocks.append(block)
        elif isinstance(block, RedactedThinking):
            if own:
                blocks.append(block)
        elif isinstance(block, dict):
            if same_house:
                blocks.append(block)
        else:
            blocks.append(_adapted(block, card))
    return blocks


def _adapted(block: Block, card: ModelCard) -> Block:
    if isinstance(block, Aside):
        return Aside(block.text, wire_name(block.result_of))
    if isinstance(block, ToolUse):
        return ToolUse(wire_name(block.id), wire_name(block.name), block.input)
    if isinstance(block, ToolResult):
        content = block.content
        if not isinstance(content, str):
            content = [_adapted(part, card) for part in content]
        return ToolResult(wire_name(block.tool_use_id), content, block.is_error)
    if isinstance(block, Image) and not card.images:
        return _NO_IMAGE
    if isinstance(block, Document) and not card.documents:
        return _NO_DOCUMENT
    return block


def _trim_end(turns: list[Turn]) -> None:
    """A request may not end in an assistant text with trailing white space."""
    if turns and turns[-1].role == "assistant":
        blocks = turns[-1].blocks
        last = blocks[-1]
        if isinstance(last, Text):
            turns[-1] = Turn("assistant", [*blocks[:-1], Text(last.text.rstrip())])
