"""Texts of Forge itself, marked so that a model does not take them for words of the user."""

from __future__ import annotations

from forge.core.message import Aside, Block, Text

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
