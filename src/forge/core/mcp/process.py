"""The process behind a stdio server: lines in, lines out, its last words, its end with all its children."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

from forge.core.mcp.port import Launch, Unavailable
from forge.foundation.system.piped import LastWords, spawn_piped
from forge.foundation.system.process import Child, Unsupported

MOST_LINE = 64 << 20
MOST_UNSENT = 16 << 20
GRACE = 0.5


class ServerProcess:
    """A running server in a process group of its own."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._errors = LastWords()
        self._reader = asyncio.StreamReader(limit=MOST_LINE)
        self._reading: asyncio.ReadTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self.ended = False

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def last_words(self) -> str:
        return str(self._errors)

    async def connect(self, reading: int, writing: int, errors: int) -> None:
        """Takes over our ends of the pipes."""
        loop = asyncio.get_running_loop()
        await self._errors.listen(errors)
        self._reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(reading, "rb", buffering=0)
        )
        self._writing, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(writing, "wb", buffering=0)
        )

    async def read(self, take: Callable[[bytes], Awaitable[None]]) -> None:
        """Hands every line to `take` until the server ends or writes a line without end."""
        try:
            while line := await self._reader.readline():
                await take(line)
        except (ValueError, OSError):
            pass  # too long a line, or a broken pipe: the same as an end
        finally:
            self.ended = True

    def write(self, line: bytes) -> bool:
        """Sends a line; false if the server has ended or does not read any more."""
        out = self._writing
        if self.ended or out is None or out.is_closing() or out.get_write_buffer_size() > MOST_UNSENT:
            self.ended = True
            return False
        out.write(line + b"\n")
        return True

    async def close(self, grace: float = GRACE) -> None:
        """Closes its input, asks it to end, and kills what is left of the server and its children.

        `grace` is how long each of the two may take.
        """
        self.ended = True
        if self._writing is not None and not self._writing.is_closing():
            self._writing.close()
        try:
            if not await self._child.ends_within(grace):
                self._child.terminate()
                await self._child.ends_within(grace)
        finally:
            self._child.kill()
            if self._reading is not None and not self._reading.is_closing():
                self._reading.close()
            if self._writing is not None and self._writing.get_write_buffer_size():
                self._writing.abort()  # what was not read will not be
            await self._errors.close()
        await self._child.wait()


async def start(launch: Launch) -> ServerProcess:
    """Starts the program of a server; Unavailable if that is not possible."""
    try:
        child, *pipes = spawn_piped([launch.command, *launch.args], launch.cwd, launch.env)
    except (OSError, Unsupported, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(f"{launch.command} cannot be started: {why}") from None
    process = ServerProcess(child)
    connecting = asyncio.ensure_future(process.connect(*pipes))
    try:
        await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await connecting
        await asyncio.shield(process.close(0))
        raise
    return process
