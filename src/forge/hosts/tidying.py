"""Deletes old sessions once a day: while a long run goes on, or at the end of a short one."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from forge.foundation.errors import ForgeError
from forge.foundation.history.retention import DEFAULT_DAYS, is_due, sweep
from forge.foundation.origin import Scope, Severity
from forge.hosts.configuration import Configuration
from forge.hosts.guarding import tidy_up

DELAY = 5.0
_KEY = "cleanupPeriodDays"
# What comes with a directory must not be able to shorten the life of all sessions of the machine.
_FOREIGN = (Scope.PROJECT, Scope.LOCAL)


class Tidying:
    """The daily tidying of one run, which needs `session` itself."""

    def __init__(self, c: Configuration, session: str) -> None:
        self._c = c
        self._session = session
        self._task = asyncio.ensure_future(self._later())

    async def end(self) -> None:
        """Does it now, unless that has happened."""
        if self._task.done():
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._sweep()

    async def _later(self) -> None:
        await asyncio.sleep(DELAY)
        if self._due():
            await asyncio.to_thread(self._sweep)

    def _due(self) -> bool:
        # A settings file that cannot be read may ask for more days.
        broken = any(note.severity is Severity.ERROR for note in self._c.diagnostics)
        return not broken and is_due(self._c.places.claude_dir, time.time())

    def _sweep(self) -> None:
        if self._due():
            sweep(self._c.places.claude_dir, time.time(), kept_days(self._c), self._session)
            # A history that cannot be opened now is tidied another day.
            with suppress(ForgeError, OSError):
                tidy_up(self._c.places.forge_home)


def kept_days(c: Configuration) -> int:
    """How many days unused sessions are kept."""
    own = [
        layer.data[_KEY] for layer in c.settings.layers if _KEY in layer.data and layer.scope not in _FOREIGN
    ]
    days = [own[-1] if own else DEFAULT_DAYS, c.settings.get(_KEY, DEFAULT_DAYS)]
    return max(n if isinstance(n, int) and n >= 1 else DEFAULT_DAYS for n in days)
