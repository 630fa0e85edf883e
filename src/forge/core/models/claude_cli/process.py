"""The CLI as a process of its own session: what it prints, its last words, its end with all children."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from forge.foundation.encode import dumps
from forge.foundation.errors import ModelError
from forge.foundation.redact import redact
from forge.foundation.system.liveness import is_alive, process_start
from forge.foundation.system.piped import LastWords, spawn_piped
from forge.foundation.system.process import Child, Unsupported, carriers, descendants, end_process

GRACE = 2.0
_MARK = "FORGE_CLI_RUN"
_PIECE = 1 << 20
_KEPT = 8_192
_LAST = 0.2
_LOOK = 0.5
_PIPE = 1 << 20


class Launch(msgspec.Struct, frozen=True):
    """What to start. The environment may hold secrets and is not shown.

    `mark` is put into the environment, where everything the CLI starts inherits it.
    """

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    grace: float = GRACE
    mark: str = ""

    def __repr__(self) -> str:
        return f"Launch({self.argv!r}, {self.cwd!r})"


class Stalled(Exception):
    """Nothing was printed for too long."""


class Cli:
    """A running CLI. `code` is its exit code once it has ended, minus the signal's number if one ended it."""

    def __init__(self, child: Child, launch: Launch) -> None:
        self._child = child
        self._launch = launch
        self._errors = LastWords(_KEPT)
        self._reader = asyncio.StreamReader(limit=_PIECE)
        self._transports: list[asyncio.BaseTransport] = []
        self._input: asyncio.WriteTransport | None = None
        self._ending: asyncio.Task[None] | None = None
        self.code: int | None = None

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_gone(self) -> bool:
        """Whether it has ended already."""
        return self._child.has_ended()

    @property
    def last_words(self) -> str:
        """The last 8 KB of standard error, without secrets."""
        known = (v for k, v in self._launch.env.items() if k.endswith(("KEY", "TOKEN", "SECRET")))
        return redact(str(self._errors), known)

    async def connect(self, reading: int, writing: int, errors: int) -> None:
        """Takes over our ends of the pipes."""
        loop = asyncio.get_running_loop()
        await self._errors.listen(errors)
        read, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(reading, "rb", buffering=0)
        )
        self._input, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(writing, "wb", buffering=0)
        )
        self._transports = [read, self._input]

    async def read(self, seconds: float | None = None) -> bytes:
        """What was printed next, b"" at the end; raises `Stalled` after so many seconds without anything."""
        waited = 0.0
        while True:
            pause = _LOOK if seconds is None else min(_LOOK, seconds - waited)
            try:
                async with asyncio.timeout(pause):
                    return await self._reader.read(_PIECE)
            except TimeoutError:
                # Something it has started may keep its output open after its end.
                if self.is_gone:
                    return b""
            waited += pause
            if seconds is not None and waited >= seconds:
                raise Stalled

    def send(self, message: Any) -> None:
        """Writes one JSON line; a CLI that has ended is noticed by whoever reads."""
        if self._input is not None and not self._input.is_closing():
            self._input.write(dumps(message) + b"\n")

    def close_input(self) -> None:
        """Says that nothing more will come."""
        if self._input is not None and not self._input.is_closing():
            self._input.close()

    async def ended(self) -> int:
        """Waits for the end of a CLI that has closed its output and returns the exit code."""
        if not await self._ends_within(self._launch.grace):
            await self.abort()
        await _end_all(self._family())
        return await self._gone()

    async def finish(self) -> None:
        """Lets a CLI that has nothing to do end by itself, and ends it if it does not."""
        self.close_input()
        try:
            if not await self._ends_within(self._launch.grace):
                await self.abort()
        except asyncio.CancelledError:
            await self.abort()
            raise
        await self._gone()

    async def abort(self) -> None:
        """Interrupts, then terminates, then kills; returns when nothing of it is left, even if cancelled."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._abort())
        ending = self._ending
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending
            raise

    async def _abort(self) -> None:
        family = self._family()
        for ask in (self._child.interrupt, self._child.terminate):
            if self.code is None:
                ask()
                await self._ends_within(self._launch.grace)
                family |= self._family()
        self._child.kill()
        await _end_all(family)
        await self._gone()

    async def _gone(self) -> int:
        self.code = await self._child.wait()
        await self._errors.close(_LAST)
        for transport in self._transports:
            if isinstance(transport, asyncio.WriteTransport) and transport.get_write_buffer_size():
                transport.abort()  # what was not read will not be
            elif not transport.is_closing():
                transport.close()
        return self.code

    def _family(self) -> dict[int, int]:
        """Everything it has started, each with the time of its start, so that no stranger is taken for it.

        Commands of the CLI run in sessions of their own and would outlive it.
        """
        mark = self._launch.mark
        marked = carriers(f"{_MARK}={mark}") if mark else []
        found = {*descendants(self.pid), *marked} - {self.pid}
        return {pid: process_start(pid) for pid in found}

    async def _ends_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                self.code = await self._child.wait()
        except TimeoutError:
            return False
        return True


async def _end_all(family: dict[int, int]) -> None:
    for pid, start in family.items():
        if is_alive(pid, start):
            await end_process(pid)


async def start(launch: Launch) -> Cli:
    """Starts the CLI; raises `ModelError` if that is not possible."""
    env = {**launch.env, _MARK: launch.mark} if launch.mark else launch.env
    try:
        child, *pipes = spawn_piped(launch.argv, launch.cwd, env, size=_PIPE)
    except (OSError, Unsupported, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{launch.argv[0]} cannot be started: {why}", kind="connection") from None
    cli = Cli(child, launch)
    connecting = asyncio.ensure_future(cli.connect(*pipes))
    try:
        await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await connecting
        await cli.abort()
        raise
    return cli
