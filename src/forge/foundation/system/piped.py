"""Programs that are talked to through pipes, and what they said last on their standard error."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from forge.foundation.system.process import Child, Spawn, pipe, spawn


def spawn_piped(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], *, size: int = 0
) -> tuple[Child, int, int, int]:
    """A program that was started, and our ends of its output, its input and its errors.

    Raises what `spawn` does; `size` is that of the buffer for its output.
    """
    their_in, our_out = os.pipe()
    our_in, their_out = pipe(size)
    our_errors, their_errors = pipe()
    theirs = (their_in, their_out, their_errors)
    try:
        child = spawn(Spawn(argv, cwd, env, *theirs))
    except BaseException:
        for descriptor in (our_in, our_out, our_errors):
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return child, our_in, our_out, our_errors


class LastWords(asyncio.Protocol):
    """The end of what a program wrote to its standard error."""

    def __init__(self, most: int = 4_000) -> None:
        self._most = most
        self._kept = b""
        self._transport: asyncio.BaseTransport | None = None
        self._over = asyncio.Event()

    async def listen(self, descriptor: int) -> None:
        """Takes over our end of the pipe."""
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: self, os.fdopen(descriptor, "rb", buffering=0))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-self._most :]

    def connection_lost(self, error: Exception | None) -> None:
        self._over.set()

    async def close(self, seconds: float = 0.1) -> None:
        """Takes in what has been written, unless somebody still keeps the pipe open for so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            pass
        finally:
            if self._transport is not None:
                self._transport.close()

    def __str__(self) -> str:
        return self._kept.decode("utf-8", "replace").strip()
