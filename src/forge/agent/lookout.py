"""How a session learns that files or its directory have changed; nothing is watched until asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from forge.agent.session import Session
from forge.agent.team.crew import Seat


class Watcher(Protocol):
    """Watches for a session until it is closed."""

    def also(self, paths: list[str]) -> None:
        """Watches these paths instead of those that hooks have named before."""
        ...

    def moved(self) -> None:
        """The directory that relative names belong to has changed."""
        ...

    async def close(self) -> None: ...


class Lookout:
    """`start` is set by a host that can watch; it returns None when nobody would care."""

    def __init__(self) -> None:
        self.start: Callable[[list[str]], Watcher | None] | None = None
        self.watcher: Watcher | None = None


def look_out(s: Session, paths: list[str]) -> None:
    """Begins to watch, if there is anything to watch for; `paths` is what hooks have named."""
    lookout = s.keep(Lookout)
    if lookout.watcher is None and lookout.start is not None:
        lookout.watcher = lookout.start(paths)
    elif lookout.watcher is not None and paths:
        lookout.watcher.also(paths)


async def stop_looking(s: Session) -> None:
    """Ends all watching."""
    watcher, lookout = s.keep(Lookout).watcher, s.keep(Lookout)
    lookout.start = lookout.watcher = None
    if watcher is not None:
        await watcher.close()


async def went_elsewhere(s: Session, before: str, went: list[str]) -> None:
    """CwdChanged: a command has gone to another directory, even if the session did not stay there.

    Sub-agents go back after each call, so nobody hears of theirs.
    """
    if not went or went[0] == before or s.keep(Seat).depth:
        return
    watcher = s.keep(Lookout).watcher
    if watcher is not None and s.situation.cwd != before:
        watcher.moved()
    outcome = await s.hooks.fire("CwdChanged", old_cwd=before, new_cwd=went[0])
    if outcome.watch:
        look_out(s, outcome.watch)
