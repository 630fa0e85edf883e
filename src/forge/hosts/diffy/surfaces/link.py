"""The screen's side of a review: what to review, whether the agent still waits, and handing it over."""

from __future__ import annotations

import os
import select
import time
from enum import StrEnum

from forge.foundation.system.liveness import process_start
from forge.hosts.diffy.surfaces.runtime import ReviewState, read_review, socket_of, write_private
from forge.hosts.diffy.surfaces.wire import (
    FINISHED,
    HELLO,
    LEFT,
    MOVED,
    TAKEN,
    Message,
    Plug,
    connect,
)

DECISIONS, _SCREEN = "decisions.json", "screen"
# The hook only reads a file and says so; applying comes afterwards.
_PATIENCE = 5.0


class News(StrEnum):
    """What a screen must know."""

    GONE = "gone"  # the agent no longer waits: the result will be queued
    BACK = "back"  # an agent waits again
    CLOSE = "close"  # save the draft and end: another screen has the review, or the terminal is not ours


class Link:
    """The connection to the hook. A screen reads `news()` when `fileno()` is readable, and calls `retry()`
    about once a second while `waiting` is False."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.review: ReviewState = read_review(folder)
        self._plug: Plug | None = None
        pid = os.getpid()
        write_private(os.path.join(folder, _SCREEN), f"{pid} {process_start(pid)}".encode())
        self.retry()

    @property
    def waiting(self) -> bool:
        """Whether an agent waits for the result."""
        return self._plug is not None

    def fileno(self) -> int:
        """For select; -1 while nobody waits."""
        return self._plug.fileno() if self._plug else -1

    def retry(self) -> list[News]:
        """Looks whether somebody waits (again)."""
        if self._plug is None:
            self._plug = connect(socket_of(self.folder))
            if self._plug is not None:
                self._plug.send(Message(HELLO, pid=os.getpid()))
                return [News.BACK]
        return []

    def news(self) -> list[News]:
        """What has arrived."""
        if self._plug is None:
            return []
        messages = self._plug.receive()
        if any(message.type == MOVED for message in messages):
            return [News.CLOSE]
        if self._plug.open:
            return []
        self._drop()
        return [News.GONE if self.review.stays else News.CLOSE]

    def finish(self, decisions: bytes) -> bool:
        """Hands the decisions to the hook; False if nobody took them, and the caller must conclude alone."""
        os.makedirs(self.folder, 0o700, exist_ok=True)
        write_private(os.path.join(self.folder, DECISIONS), decisions)
        if self._plug is None:
            return False
        self._plug.send(Message(FINISHED))
        end = time.monotonic() + _PATIENCE
        while self._plug.open and (left := end - time.monotonic()) > 0:
            select.select([self._plug], [], [], left)
            if any(message.type == TAKEN for message in self._plug.receive()):
                self._drop()
                return True
        self._drop()
        return False

    def leave(self) -> None:
        """Tells the hook that the user went away without deciding everything; the draft is kept."""
        if self._plug is not None:
            self._plug.send(Message(LEFT))
            self._drop()

    def close(self) -> None:
        """Ends the connection without a word, as a screen that dies does."""
        self._drop()

    def _drop(self) -> None:
        if self._plug is not None:
            self._plug.close()
            self._plug = None


def read_decisions(folder: str) -> bytes:
    """What the screen has written; empty if it has not."""
    try:
        with open(os.path.join(folder, DECISIONS), "rb") as file:
            return file.read()
    except OSError:
        return b""


def read_screen(folder: str) -> tuple[int, int]:
    """Process number and start of the last screen of a review; zeros if there was none."""
    try:
        with open(os.path.join(folder, _SCREEN), "rb") as file:
            pid, start = file.read().split()
            return int(pid), int(start)
    except (OSError, ValueError):
        return 0, 0
