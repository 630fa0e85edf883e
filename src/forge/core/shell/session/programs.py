"""The programs that run in terminals for one conversation: how many, and for how long without use."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

import msgspec

from forge.core.shell.session.program import Program
from forge.foundation.system.keeping import Confinement, Keeper, Order, memory_file
from forge.foundation.system.terminal import open_terminal

MOST = 16
IDLE = 600.0
ROWS, COLUMNS = 24, 80
_LARGEST = 500
# The text of the command comes through a descriptor: an argument may be no longer than 128 KB.
_TEXT = 30
_SCRIPT = f'IFS= read -r -d "" -u {_TEXT} __forge; exec {_TEXT}<&-; eval "$__forge"'


class Start(msgspec.Struct, frozen=True):
    """What to start in a terminal."""

    command: str
    cwd: str
    env: Mapping[str, str]
    rows: int = ROWS
    columns: int = COLUMNS
    shell: str = "/bin/bash"
    sandbox: Confinement | None = None


class NoProgram(Exception):
    """There is no such program, or no room for another; the text says what to do."""


class Programs:
    """Programs by id. Whoever has it must call `close`."""

    def __init__(self, keeper: Keeper, *, most: int = MOST, idle: float = IDLE) -> None:
        self._keeper = keeper
        self._most, self._idle = most, idle
        self._running: dict[str, Program] = {}
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[int]] = set()

    async def start(self, what: Start) -> str:
        """The id of a program that has been started; NoProgram if there are too many, NotStarted."""
        if len(self._running) >= self._most:
            names = ", ".join(self._running)
            raise NoProgram(f"{self._most} programs run already ({names}): stop one first.")
        rows, columns = (max(1, min(size, _LARGEST)) for size in (what.rows, what.columns))
        master, slave = open_terminal(rows, columns, plain=False)
        text = memory_file(what.command.encode("utf-8", "surrogateescape"))
        try:
            argv = [what.shell, "--norc", "--noprofile", "-c", _SCRIPT]
            streams = (slave, slave, slave)
            keep = ((text, _TEXT),)
            order = Order(argv, what.cwd, what.env, streams, keep, terminal=True, sandbox=what.sandbox)
            held = await self._keeper.start(order)
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
            os.close(text)
        self._count += 1
        name = f"t{self._count}"
        self._running[name] = Program(held, master, (rows, columns), what.command)
        self._look()
        return name

    def find(self, name: str) -> Program:
        """The program with an id; NoProgram if it has none."""
        try:
            return self._running[name]
        except KeyError:
            known = ", ".join(self._running) or "none"
            raise NoProgram(f"No program has the id {name!r}; running: {known}.") from None

    def names(self) -> list[str]:
        """The ids of all programs that have not been stopped."""
        return list(self._running)

    async def stop(self, name: str) -> int:
        """Ends a program and forgets it; its exit code."""
        program = self.find(name)
        del self._running[name]
        return await program.stop()

    async def close(self) -> None:
        """Ends all programs."""
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*(self.stop(name) for name in self.names()), *self._ending)

    def _look(self) -> None:
        """Ends what nobody has used for too long, and looks again when the next may be due."""
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for name, program in list(self._running.items()):
            if loop.time() - program.used >= self._idle:
                task = loop.create_task(self.stop(name))
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        due = [p.used + self._idle for p in self._running.values() if loop.time() - p.used < self._idle]
        if due:
            self._timer = loop.call_at(min(due), self._look)
