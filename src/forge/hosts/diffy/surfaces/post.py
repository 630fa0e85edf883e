"""The hook's side of a review: it listens, and waits for a screen, its result, its death or a signal."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

from forge.foundation.system.liveness import is_alive
from forge.hosts.diffy.surfaces.runtime import socket_of
from forge.hosts.diffy.surfaces.signals import Signals
from forge.hosts.diffy.surfaces.wire import FINISHED, LEFT, MOVED, TAKEN, Message, Plug, listen

# A review that moves to another terminal is without a screen for a moment.
_GRACE = 0.7
# How often it is looked whether the agent still lives: its death closes nothing we could wait for.
_LOOK = 1.0


class Ending(StrEnum):
    """How waiting for a review ended."""

    FINISHED = "finished"
    LEFT = "left"
    DIED = "died"
    SIGNAL = "signal"
    ALONE = "alone"  # the agent itself is gone


class Post:
    """The place where screens report. The newest screen has the review; older ones are told to close."""

    def __init__(self, folder: str, signals: Signals) -> None:
        self._path = socket_of(folder)
        self._listener = listen(self._path)
        self._signals = signals
        self._screens: list[Plug] = []
        self._ending: Ending | None = None

    def appears(self, seconds: float, failed: Callable[[], bool]) -> bool:
        """Whether a screen reports in time; `failed` tells that it never will."""
        end = time.monotonic() + seconds
        while not self._screens and not self._signals.number and not failed():
            if (left := end - time.monotonic()) <= 0:
                return False
            self._turn(min(left, 0.1))
        return bool(self._screens)

    def ending(self, agent: tuple[int, int] = (0, 0)) -> Ending:
        """Waits for the end of the review. `agent` is who waits for it, if that is known."""
        alone_since = 0.0
        while self._ending is None:
            if self._signals.number:
                return Ending.SIGNAL
            if agent[0] and not is_alive(*agent):
                return Ending.ALONE
            if self._screens:
                alone_since = 0.0
                self._turn(_LOOK if agent[0] else None)
                continue
            alone_since = alone_since or time.monotonic()
            left = alone_since + _GRACE - time.monotonic()
            if left <= 0:
                return Ending.DIED
            self._turn(left)
        return self._ending

    def close(self) -> None:
        """Stops listening; screens notice it."""
        for screen in self._screens:
            screen.close()
        self._listener.close()
        with suppress(FileNotFoundError):
            os.unlink(self._path)

    def _turn(self, seconds: float | None) -> None:
        ready, _, _ = select.select(self._sources(), [], [], seconds)
        for source in ready:
            if source is self._listener:
                self._welcome()
            elif isinstance(source, Plug):
                self._hear(source)

    def _sources(self) -> list[Any]:
        return [self._listener, self._signals, *self._screens]

    def _welcome(self) -> None:
        with suppress(BlockingIOError):
            connection, _ = self._listener.accept()
            for older in self._screens:
                older.send(Message(MOVED))
                older.close()
            self._screens = [Plug(connection)]

    def _hear(self, screen: Plug) -> None:
        if screen not in self._screens:
            return  # closed in this turn because a newer one came
        for message in screen.receive():
            if message.type == FINISHED:
                screen.send(Message(TAKEN))
                self._ending = Ending.FINISHED
            elif message.type == LEFT:
                self._ending = Ending.LEFT
        if not screen.open:
            screen.close()
            self._screens.remove(screen)
