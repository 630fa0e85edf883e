"""One MCP server of a session: connected in the background, started again when it has ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any

from forge.core.mcp.port import Ask, Connection, Greeting, Launch, Open, Unavailable

CONNECTED, FAILED, PENDING, DISABLED = "connected", "failed", "pending", "disabled"
_SHOWN = 500


class McpServer:
    """`source` says where it is configured; `config` is the entry as written there."""

    def __init__(
        self, launch: Launch, source: str, config: dict[str, Any], ask: Ask, opener: Open | None = None
    ) -> None:
        self.launch = launch
        self.name = launch.name
        self.source = source
        self.config = config
        self.status = PENDING
        self.error = ""
        self.greeting = Greeting()
        self._ask = ask
        self._open = opener or (open_stdio if launch.kind == "stdio" else open_remote)
        self.connection: Connection | None = None
        self._lock = asyncio.Lock()
        self._closed = False
        self._seen = False

    async def connect(self) -> None:
        """Connects unless that has happened; a failure is kept in `status` and `error`."""
        with suppress(Unavailable):  # `status` and `error` tell
            await self._connected()

    async def call(self, tool: str, given: dict[str, Any], call_id: str = "") -> dict[str, Any]:
        """The result of a tool; a server that has ended is started again. Unavailable, or TimeoutError."""
        connection = await self._connected()
        async with asyncio.timeout(self.launch.call_seconds):
            return await connection.call(tool, given, call_id)

    async def restart(self) -> None:
        """Ends the server and starts it again, also one that was disabled or never came up."""
        await self._end(PENDING)
        self._seen = False
        await self.connect()

    async def disable(self) -> None:
        """Ends the server until it is restarted."""
        await self._end(DISABLED)

    async def close(self) -> None:
        """Ends the server; it is not started again."""
        self._closed = True
        await self._end(self.status)

    async def _end(self, status: str) -> None:
        async with self._lock:
            connection, self.connection = self.connection, None
            self.status, self.error, self.greeting = status, "", Greeting()
            if connection is not None:
                await connection.close()

    async def _connected(self) -> Connection:
        async with self._lock:
            if self.connection is not None and self.connection.alive:
                return self.connection
            if self._closed or self.status == DISABLED:
                raise Unavailable("the session has ended" if self._closed else "the server is disabled")
            if self.status == FAILED and not self._seen:
                raise Unavailable(self.error)  # what never came up is not waited for again
            old, self.connection = self.connection, None
            if old is not None:
                await old.close()
            try:
                async with asyncio.timeout(self.launch.start_seconds):
                    self.connection = await self._open(self.launch, self._ask)
            except (Unavailable, TimeoutError) as error:
                late = f"it did not answer within {self.launch.start_seconds:g} seconds"
                self.status, self.error = FAILED, str(error) or late
                raise Unavailable(self.error) from None
            self.status, self.error, self._seen = CONNECTED, "", True
            self.greeting = self.connection.greeting
            return self.connection


async def open_stdio(launch: Launch, ask: Ask) -> Connection:
    """Starts the program of a server and says hello; the SDK is loaded while the program starts."""
    process = await import_module("forge.core.mcp.process").start(launch)
    try:
        speaking = await asyncio.to_thread(import_module, "forge.core.mcp.speaking")
        connection: Connection = await speaking.open_spoken(launch, process, ask)
    except Unavailable as error:
        await process.close()
        words = process.last_words[-_SHOWN:]
        raise Unavailable(f"{error}" + (f"; its last words: {words}" if words else "")) from None
    except BaseException:
        await asyncio.shield(process.close(0))
        raise
    return connection


async def open_remote(launch: Launch, ask: Ask) -> Connection:
    """Says hello to a server at an address."""
    speaking = await asyncio.to_thread(import_module, "forge.core.mcp.speaking")
    connection: Connection = await speaking.open_spoken(launch, None, ask)
    return connection
