"""When a change on disk is worth telling: one state machine for settings files and for watched files.

It is pure: whoever watches says what was seen and when, and asks what is due. The last state of a path is
never lost: what happens during a cool-down is told at its end, as one change.
"""

from __future__ import annotations

import msgspec

ADD, CHANGE, UNLINK = "add", "change", "unlink"


class Timing(msgspec.Struct, frozen=True):
    """Seconds: `settle` of quiet before a change is told, at the latest `longest` after the first sign.

    `grace` is how long a removed file may come back (editors replace files that way), `cooldown` the least
    time between two changes of one path, `own` how long changes by Forge itself stay untold.
    """

    settle: float
    longest: float
    grace: float = 1.7
    cooldown: float = 1.5
    own: float = 5.0


CONFIG = Timing(settle=1.0, longest=5.0)
# Writers truncate and then write: a moment of quiet makes one change of it, well within half a second.
FILES = Timing(settle=0.1, longest=0.3)


class Change(msgspec.Struct, frozen=True):
    """What happened to a path: add, change or unlink."""

    path: str
    event: str


class _Pending(msgspec.Struct):
    event: str
    first: float
    last: float


# What two events in a row amount to; nothing if the file came and went before anybody was told.
_FOLDED = {
    (ADD, CHANGE): ADD,
    (ADD, UNLINK): "",
    (UNLINK, ADD): CHANGE,
    (UNLINK, CHANGE): CHANGE,
    (CHANGE, ADD): CHANGE,
}


class Watch:
    """What was seen and not told yet, by path."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._pending: dict[str, _Pending] = {}
        self._told: dict[str, float] = {}
        self._own: dict[str, float] = {}

    def own_write(self, path: str, now: float) -> None:
        """Forge is about to write this file itself: what is seen of it now is no news."""
        self._own[path] = now
        self._pending.pop(path, None)

    def seen(self, path: str, event: str, now: float) -> None:
        """Something happened to a path."""
        written = self._own.get(path)
        if written is not None:
            if now - written <= self._timing.own:
                return
            del self._own[path]
        waiting = self._pending.get(path)
        if waiting is None:
            self._pending[path] = _Pending(event, now, now)
            return
        folded = _FOLDED.get((waiting.event, event), event)
        if not folded:
            del self._pending[path]
            return
        # A file that came back starts over: its content has only just been written.
        first = now if waiting.event == UNLINK else waiting.first
        self._pending[path] = _Pending(folded, first, now)

    def due(self, now: float) -> list[Change]:
        """The changes to be told at this moment, in the order of their first signs."""
        ready = [(p.first, path, p.event) for path, p in self._pending.items() if self._at(path, p) <= now]
        for _, path, _event in ready:
            del self._pending[path]
            self._told[path] = now
        if len(self._told) > len(ready):
            recent = now - self._timing.cooldown
            self._told = {path: at for path, at in self._told.items() if at > recent}
        return [Change(path, event) for _, path, event in sorted(ready)]

    def next_at(self) -> float | None:
        """When something will be due if nothing else is seen; None if nothing will."""
        return min((self._at(path, p) for path, p in self._pending.items()), default=None)

    def forget(self, path: str) -> None:
        """Nobody wants to know of this path any more."""
        self._pending.pop(path, None)

    def _at(self, path: str, pending: _Pending) -> float:
        t = self._timing
        if pending.event == UNLINK:
            quiet = pending.last + t.grace
        else:
            quiet = min(pending.last + t.settle, pending.first + t.longest)
        return max(quiet, self._told.get(path, quiet) + t.cooldown) if path in self._told else quiet
