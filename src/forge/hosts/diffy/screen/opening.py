"""What a screen is given besides the review, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from forge.core.review.model import PENDING
from forge.hosts.diffy.screen.contents import Contents, Piece


class Waiter(Protocol):
    """Whoever waits for the review."""

    def poll(self) -> str | None:
        """ "gone" or "back" when that has changed, "close" when the screen must end, else None."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What a screen needs besides the review. `guard`: seconds in which keys were not meant for it."""

    base: str = ""
    bases: tuple[str, ...] = ()
    relist: Callable[[str], Contents] | None = None
    why: Callable[[str, Piece], str] | None = None
    editor: Callable[[str, str], str | None] | None = None
    waiter: Waiter | None = None
    size: Callable[[], tuple[int, int]] | None = None
    ready: Callable[[], object] = lambda: None  # called when the first frame is there
    guard: float = 0.0
    clock: Callable[[], float] = time.monotonic


class Ended(msgspec.Struct, frozen=True):
    """How the screen ended: finished with a verdict for the rest, or left with the draft kept."""

    finished: bool
    rest: str = PENDING
