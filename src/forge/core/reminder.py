"""Texts of Forge itself, marked so that a model does not take them for words of the user."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from forge.core.message import Aside, Block, Text, ToolResult

_MARK = "<system-reminder>"
_END = "</system-reminder>"


def reminder(words: str) -> str:
    """The words as a reminder."""
    return f"{_MARK}\n{words}\n{_END}"


def plain(words: str) -> str:
    """The words of a reminder; any other text stays as it is."""
    inner = words.rstrip("\n")
    if not inner.startswith(_MARK) or not inner.endswith(_END):
        return words
    return inner[len(_MARK) : -len(_END)].removeprefix("\n").removesuffix("\n")


def is_reminder(block: Block) -> bool:
    """Whether a block is a text of Forge."""
    return isinstance(block, Aside) or (isinstance(block, Text) and block.text.startswith(_MARK))


def inside(result: ToolResult, words: list[str]) -> ToolResult:
    """A result with reminders at its end, as a part of what it says."""
    content = result.content
    if isinstance(content, str):
        pieces = [piece for part in (content, *words) if (piece := part.strip())]
        return ToolResult(result.tool_use_id, "\n\n".join(pieces), result.is_error)
    parts = list(content)
    for each in words:
        if parts and isinstance(last := parts[-1], Text):
            parts[-1] = Text(f"{last.text}\n")
        parts.append(Text(each))
    return ToolResult(result.tool_use_id, parts, result.is_error)


def result_before(told: list[Block]) -> str:
    """The call whose result the next text stands directly behind; texts about a result are parts of it."""
    front = list(takewhile(lambda b: isinstance(b, ToolResult) or is_reminder(b), told))
    results = [b.tool_use_id for b in front if isinstance(b, ToolResult)]
    apart = any(isinstance(b, dict) or (isinstance(b, Aside) and not b.result_of) for b in told)
    return results[-1] if results and not apart else ""


def names_tools(content: Any) -> bool:
    """Whether a result makes tools known: it may hold nothing else."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "tool_reference" for part in parts)
