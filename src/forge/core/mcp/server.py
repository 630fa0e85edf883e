"""One MCP server of a session: connected in the background, started again when it has ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any

from forge.core.mcp.port import Ask, Connection, Greeting, Launch, Open, Unavailable

CONNECTED, FAILED, PENDING = "connected", "failed", "pending"
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
        self._open = opener or open_stdio
        self._connection: Connection | None = None
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

    async def close(self) -> None:
        """Ends the server; it is not started again."""
        self._closed = True
        async with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()

    async def _connected(self) -> Connection:
        async with self._lock:
            if self._connection is not None and self._connection.alive:
                return self._connection
            if self._closed:
                raise Unavailable("the session has ended")
            if self.status == FAILED and not self._seen:
                raise Unavailable(self.error)  # what never came up is not waited for again
            old, self._connection = self._connection, None
            if old is not None:
                await old.close()
            try:
                async with asyncio.timeout(self.launch.start_seconds):
                    self._connection = await self._open(self.launch, self._ask)
            except (Unavailable, TimeoutError) as error:
                late = f"it did not answer within {self.launch.start_seconds:g} seconds"
                self.status, self.error = FAILED, str(error) or late
                raise Unavailable(self.error) from None
            self.status, self.error, self._seen = CONNECTED, "", True
            self.greeting = self._connection.greeting
            return self._connection


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
