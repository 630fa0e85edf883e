"""Lets a session watch files: at once if hooks want it, else after the first second, for its settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from forge.agent.hooks.lending import engine_of
from forge.agent.lookout import Lookout, Watcher
from forge.agent.session import Session
from forge.foundation.own_writes import hear_own_writes
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions

# Most short runs end before; whoever changes settings of a running session does it later.
LATER = 1.0
_EVENTS = ("FileChanged", "ConfigChange")


class Holds(Protocol):
    """Has the configuration of a run as it is now; hosts that change it themselves are such a thing."""

    c: Configuration


class Holder:
    """The configuration of a run nobody else changes."""

    def __init__(self, c: Configuration) -> None:
        self.c = c


def prepare_lookout(session: Session, o: RunOptions, env: dict[str, str], holder: Holds) -> None:
    """Makes the session able to watch; nothing is loaded or opened before it is needed."""
    own = hear_own_writes()

    def begin(paths: list[str]) -> Watcher:
        watcher: Watcher = import_module("forge.hosts.reloading").watch(session, (o, env, own), holder, paths)
        return watcher

    def start(paths: list[str]) -> Watcher | None:
        engine = engine_of(session)
        if paths or (engine is not None and any(engine.hooks(event) for event in _EVENTS)):
            return begin(paths)
        return None if o.bare else _Later(begin)

    session.keep(Lookout).start = start


class _Later:
    """A watcher that begins after a while, unless hooks name something before."""

    def __init__(self, begin: Callable[[list[str]], Watcher]) -> None:
        self._begin = begin
        self._real: Watcher | None = None
        self._timer = asyncio.get_running_loop().call_later(LATER, self._now, [])

    def also(self, paths: list[str]) -> None:
        if self._real is not None:
            self._real.also(paths)
        else:
            self._timer.cancel()
            self._now(paths)

    def moved(self) -> None:
        if self._real is not None:
            self._real.moved()

    async def close(self) -> None:
        self._timer.cancel()
        if self._real is not None:
            await self._real.close()

    def _now(self, paths: list[str]) -> None:
        self._real = self._begin(paths)
