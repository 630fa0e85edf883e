"""The language servers of a session; the first one that is registered for an extension serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forge.core.components.kinds import LspServer
from forge.core.lsp.connection import Launch
from forge.core.lsp.server import LanguageServer, extension_of
from forge.core.registry import Component


class LanguageServers:
    """Kept once for a conversation and its sub-agents.

    `components` are the servers there are now, in the order in which they were registered; `prepare` replaces
    the variables in one.
    """

    def __init__(self) -> None:
        self.components: Callable[[], list[Component[LspServer]]] = list
        self.prepare: Callable[[Component[LspServer]], Launch] = lambda c: Launch(c.name, c.value)
        self._running: dict[str, tuple[LspServer, LanguageServer]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def find(self, path: str) -> LanguageServer | None:
        """The server for a file; it is started by what is asked of it."""
        extension = extension_of(path)
        known = self.components()
        self._drop({c.name: c.value for c in known})
        for component in known:
            if extension in component.value.extension_to_language:
                if component.name not in self._running:
                    server = LanguageServer(self.prepare(component))
                    self._running[component.name] = (component.value, server)
                return self._running[component.name][1]
        return None

    async def close(self) -> None:
        """Ends all servers, side by side."""
        self._drop({})
        await asyncio.gather(*self._ending)

    def _drop(self, known: dict[str, LspServer]) -> None:
        """Ends the servers whose plugin is gone or has changed."""
        for name, (config, server) in list(self._running.items()):
            if known.get(name) is not config:
                del self._running[name]
                task = asyncio.ensure_future(server.close())
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
