"""The process behind a stdio server: lines in, lines out, its last words, its end with all its children."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

from forge.core.mcp.port import Launch, Unavailable
from forge.foundation.system.process import Child, Spawn, Unsupported, pipe, spawn

MOST_LINE = 64 << 20
MOST_UNSENT = 16 << 20
GRACE = 0.5
_KEPT = 4_000
_LAST = 0.1


class LastWords(asyncio.Protocol):
    """The end of what a server wrote to its standard error."""

    def __init__(self) -> None:
        self.kept = b""
        self._transport: asyncio.BaseTransport | None = None
        self._over = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.kept = (self.kept + data)[-_KEPT:]

    def connection_lost(self, error: Exception | None) -> None:
        self._over.set()

    async def close(self) -> None:
        """Takes in what has been written, unless somebody still keeps the pipe open."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST):
                await self._over.wait()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()

    def __str__(self) -> str:
        return self.kept.decode("utf-8", "replace").strip()


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
        await loop.connect_read_pipe(lambda: self._errors, os.fdopen(errors, "rb", buffering=0))
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
            if not await self._ends_within(grace):
                self._child.terminate()
                await self._ends_within(grace)
        finally:
            self._child.kill()
            if self._reading is not None and not self._reading.is_closing():
                self._reading.close()
            if self._writing is not None and self._writing.get_write_buffer_size():
                self._writing.abort()  # what was not read will not be
            await self._errors.close()
        await self._child.wait()

    async def _ends_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._child.wait()
        except TimeoutError:
            return False
        return True


async def start(launch: Launch) -> ServerProcess:
    """Starts the program of a server; Unavailable if that is not possible."""
    their_in, our_out = os.pipe()
    our_in, their_out = pipe()
    our_errors, their_errors = pipe()
    theirs = (their_in, their_out, their_errors)
    try:
        child = spawn(Spawn([launch.command, *launch.args], launch.cwd, launch.env, *theirs))
    except (OSError, Unsupported, ValueError) as error:
        for descriptor in (our_out, our_in, our_errors):
            os.close(descriptor)
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(f"{launch.command} cannot be started: {why}") from None
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    process = ServerProcess(child)
    connecting = asyncio.ensure_future(process.connect(our_in, our_out, our_errors))
    try:
        await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await connecting
        await asyncio.shield(process.close(0))
        raise
    return process
