"""Histories made smaller, so that a summary of them can be asked for, and how large one is."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.message import Aside, Block, Document, Image, Message, Text, Thinking, ToolResult, ToolUse

# Of each text in a history that is too long its beginning and its end are kept, so many characters together.
KEPT = 4_000
# What a picture or a page counts in a window, roughly.
PICTURE = 6_000


def slimmed(history: list[Message]) -> list[Message]:
    """The history without pictures and with the long texts cut; the same one if there is nothing to cut."""
    slim = [msgspec.structs.replace(m, blocks=[_slim(b) for b in m.blocks]) for m in history]
    return slim if slim != history else history


def newer_half(history: list[Message]) -> list[Message]:
    """The second half of a history, beginning with a user message whose calls are still there."""
    half = history[len(history) // 2 :]
    while half and half[0].role != "user":
        half = half[1:]
    if not half:
        return history[-1:]
    kept: list[Block] = [b for b in half[0].blocks if not isinstance(b, ToolResult)]
    return [Message("user", kept or [Text("(earlier messages left out)")]), *half[1:]]


def estimate(messages: list[Message]) -> int:
    """About how many tokens messages take in a window."""
    return sum(_size(b) for m in messages for b in m.blocks) // 4


def _size(block: Block) -> int:
    if isinstance(block, Text | Aside):
        return len(block.text)
    if isinstance(block, ToolResult):
        return len(block.content) if isinstance(block.content, str) else sum(map(_size, block.content))
    if isinstance(block, Image | Document):
        return PICTURE
    if isinstance(block, ToolUse):
        return len(msgspec.json.encode(block.input))
    return len(block.thinking) if isinstance(block, Thinking) else 0


def _slim(block: Block) -> Block:
    if isinstance(block, Text):
        return Text(_cut(block.text))
    if isinstance(block, Image | Document):
        return Text(f"[{block.__class__.__name__.lower()} left out]")
    if isinstance(block, ToolUse):
        return ToolUse(block.id, block.name, _short(block.input))
    if isinstance(block, ToolResult):
        content = block.content
        return msgspec.structs.replace(
            block, content=_cut(content) if isinstance(content, str) else [_slim(b) for b in content]
        )
    return block


def _short(arguments: dict[str, Any]) -> dict[str, Any]:
    return {k: _cut(v) if isinstance(v, str) else v for k, v in arguments.items()}


def _cut(words: str) -> str:
    if len(words) <= KEPT:
        return words
    return f"{words[: KEPT // 2]}\n[{len(words) - KEPT} characters left out]\n{words[-KEPT // 2 :]}"
