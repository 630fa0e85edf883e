"""Tells whoever watches the settings that Forge is about to write one of them itself."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar


class OwnWrites:
    """The listener of one run; every task of the run sees the same object."""

    def __init__(self) -> None:
        self.listener: Callable[[str], None] | None = None


_CURRENT: ContextVar[OwnWrites | None] = ContextVar("own_writes", default=None)


def hear_own_writes() -> OwnWrites:
    """The object of this run, whose `listener` hears of every write from now on."""
    mine = OwnWrites()
    _CURRENT.set(mine)
    return mine


def announce(path: str) -> None:
    """Says that this file is about to be written by Forge."""
    mine = _CURRENT.get()
    if mine is not None and mine.listener is not None:
        mine.listener(path)
