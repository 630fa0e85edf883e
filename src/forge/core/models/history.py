"""Prepares the history for the wire: what a provider would refuse is left out or mended."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from forge.core.message import (
    Block,
    Document,
    Image,
    Message,
    RedactedThinking,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from forge.core.model import ModelCard
from forge.core.models.names import wire_name

_NO_IMAGE = Text("[An image was here; this model cannot see images.]")
_NO_DOCUMENT = Text("[A document was here; this model cannot read documents.]")


class Turn(msgspec.Struct):
    """Neighbouring messages of one role, as one message of the wire. `own`: made by the model asked."""

    role: Role
    blocks: list[Block]
    own: bool = True


def tidy(messages: Iterable[Message], card: ModelCard) -> list[Turn]:
    """Merges neighbours of one role, puts tool results first and drops what this model may not be sent.

    Thinking goes back only to the model that produced it (`Message.made_by`), other opaque blocks only to the
    same provider.
    """
    turns: list[Turn] = []
    for message in messages:
        own = message.role == "user" or message.made_by == card.ref
        blocks = _sendable(message, card, own=own)
        if not blocks:
            continue
        if turns and turns[-1].role == message.role:
            turns[-1].blocks += blocks
            turns[-1].own &= own
        else:
            turns.append(Turn(message.role, blocks, own))
    for turn in turns:
        if turn.role == "user":
            turn.blocks.sort(key=lambda block: not _is_result(block))
    _trim_end(turns)
    return turns


def loop_start(turns: list[Turn]) -> int:
    """Where the running tool loop began: the last user turn without tool results."""
    prompts = [n for n, turn in enumerate(turns) if turn.role == "user" and not _is_result(turn.blocks[0])]
    return prompts[-1] if prompts else 0


def _sendable(message: Message, card: ModelCard, *, own: bool) -> list[Block]:
    same_house = own or message.made_by.partition("/")[0] == card.provider
    blocks: list[Block] = []
    for block in message.blocks:
        if isinstance(block, Text):
            if block.text.strip():
                blocks.append(block)
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


def _is_result(block: Block) -> bool:
    # Tool results come as dictionaries too when they carry fields we do not know.
    return isinstance(block, ToolResult) or (isinstance(block, dict) and block.get("type") == "tool_result")


def _trim_end(turns: list[Turn]) -> None:
    """A request may not end in an assistant text with trailing white space."""
    if turns and turns[-1].role == "assistant":
        last = turns[-1].blocks[-1]
        if isinstance(last, Text):
            turns[-1].blocks[-1] = Text(last.text.rstrip())
