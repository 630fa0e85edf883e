"""The one place that hears of a file before a tool changes it; the session's checkpoints listen here."""

from __future__ import annotations

from collections.abc import Callable


class Changes:
    """Kept once per session: `ctx.keep(Changes).tell(path)` goes before every write of a tool."""

    def __init__(self) -> None:
        self._watchers: list[Callable[[str], None]] = []

    def watch(self, watcher: Callable[[str], None]) -> None:
        """Has `watcher` called with the path of every file about to be created or changed."""
        self._watchers.append(watcher)

    def tell(self, path: str) -> None:
        for watcher in self._watchers:
            watcher(path)
