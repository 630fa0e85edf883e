"""Commands that a keeper starts for this process: in terminals, in sandboxes, and never out of sight.

The keeper is a small process of its own. It forks quickly and without the threads of this one, and when this
process ends, however it ends, everything it started ends too.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import marshal
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from forge.foundation.system.process import Unsupported, descendants

_PROGRAM = (
    "import sys; sys.path.insert(0, {root!r})\n"
    "from forge.foundation.system.keeper import serve\n"
    "serve({control}, {kinds})"
)
_KINDS = 3
_PATIENCE = 30.0
# How long processes that were killed may take to be gone.
_DYING = 2.0


class Confinement(msgspec.Struct, frozen=True):
    """A sandbox, layer by layer. Paths are absolute; whatever is switched on here holds or nothing starts.

    `sockets`: which kinds of sockets can be made: any, unix or none.
    """

    read: tuple[str, ...] = ("/",)
    write: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    no_network: bool = False
    namespaces: bool = False
    fresh_proc: bool = False
    landlock: bool = False
    seccomp: bool = False
    sockets: str = "any"


class Order(msgspec.Struct, frozen=True):
    """What to start. `descriptors` are input, output and error, -1 is the null device.

    `keep`: further descriptors and the number each has in the command; `terminal`: the input is its terminal.
    """

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    descriptors: tuple[int, int, int] = (-1, -1, -1)
    keep: tuple[tuple[int, int], ...] = ()
    terminal: bool = False
    sandbox: Confinement | None = None
    limits: tuple[tuple[str, int], ...] = (("core", 0),)


class NotStarted(Exception):
    """A command could not be started, or not with the sandbox that was asked for."""


class Held:
    """A command that was started. `pid` is the process that watches over it."""

    def __init__(self, report: int, on_lost: Callable[[], None]) -> None:
        self.pid = 0
        self.exit_code: int | None = None
        self._report = report
        self._rest = b""
        self._left = True
        self._failure = ""
        self._started = False
        self._on_lost = on_lost
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(report, self._read)

    async def begun(self) -> None:
        """Returns when the command runs; NotStarted if it does not."""
        while not (self._started and self.pid) and not self._failure and self._report >= 0:
            await self._next()
        if self._failure or not (self._started or self.pid):
            self.close()
            raise NotStarted(self._failure or "the process that was to start the command has ended")

    async def wait(self) -> int:
        """The exit code, 128 plus the signal's number after a signal. May be called more than once."""
        while self.exit_code is None and self._report >= 0:
            await self._next()
        return 137 if self.exit_code is None else self.exit_code

    async def all_ended(self) -> None:
        """Returns when nothing of the command is left, not even in the background."""
        while self._report >= 0:
            await self._next()

    async def killed(self) -> int:
        """Ends the command with everything it has started, and waits for that; the exit code."""
        self.kill()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DYING):
                await self.all_ended()
        return await self.wait()

    def drop(self) -> None:
        """Ends the command with everything it has started, and no longer listens."""
        self.kill()
        self.close()

    def survivors(self) -> tuple[int, ...]:
        """The processes the command has left behind."""
        if self.exit_code is not None and not self._left:
            return ()
        return tuple(descendants(self.pid)) if self.pid and self._report >= 0 else ()

    def interrupt(self) -> None:
        """Sends an interrupt to the command."""
        self._signal(signal.SIGINT)

    def terminate(self) -> None:
        """Asks the command to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the command and everything it has started, also what left its session."""
        self._signal(signal.SIGQUIT)

    def _signal(self, number: int) -> None:
        # While the pipe is open the process exists, so its number is no stranger's.
        if self.pid and self._report >= 0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    async def _next(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _read(self) -> None:
        try:
            block = os.read(self._report, 4096)
        except BlockingIOError:
            return
        if not block:
            self.close()
            if self.exit_code is None and not self._failure:
                self._on_lost()
        *lines, self._rest = (self._rest + block).split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", "replace"))
        self._changed.set()

    def _take(self, line: str) -> None:
        kind, rest = line[:1], line[1:]
        if kind == "P":
            self.pid = int(rest)
        elif kind == "S":
            self._started = True
        elif kind == "E":
            self._failure = rest
        elif kind == "X":
            code, left = rest.split()
            self.exit_code, self._left = int(code), left == "1"
            if not self._left:
                self.close()  # what follows could only be the end of the pipe

    def close(self) -> None:
        """No longer listens; the command goes on."""
        if self._report >= 0:
            asyncio.get_running_loop().remove_reader(self._report)
            os.close(self._report)
            self._report = -1
        self._changed.set()


class Keeper:
    """Starts commands. Its own process starts with the first of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._plugs: list[socket.socket] = []

    async def start(self, order: Order) -> Held:
        """Starts a command; NotStarted if it or its sandbox cannot be had, Unsupported on Windows."""
        plug = self._connected()[_kind(order.sandbox)]
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        held = Held(reading, self._lost)
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        text = memory_file(marshal.dumps(_plain(order)))
        streams = [null if number < 0 else number for number in order.descriptors]
        descriptors = array.array("i", [text, writing, *streams, *(own for own, _ in order.keep)])
        try:
            plug.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        except OSError as error:
            held.close()
            raise NotStarted(f"the keeper of commands is gone: {error}") from None
        finally:
            for number in (text, writing, null):
                os.close(number)
        try:
            async with asyncio.timeout(_PATIENCE):
                await held.begun()
        except TimeoutError:
            held.close()
            raise NotStarted(f"the keeper of commands did not answer within {_PATIENCE:.0f} s") from None
        except asyncio.CancelledError:
            held.drop()
            raise
        return held

    def close(self) -> None:
        """Ends the keeper and with it every command that still runs."""
        for plug in self._plugs:
            plug.close()
        self._plugs = []
        if self._process is not None:
            self._process.wait()
            self._process = None

    def _lost(self) -> None:
        """A command has killed its supervisor: it gets no further for that."""
        if self._plugs:
            with contextlib.suppress(OSError):
                self._plugs[-1].send(b"x")

    def _connected(self) -> list[socket.socket]:
        if self._process is not None and self._process.poll() is None:
            return self._plugs
        self.close()
        if sys.platform == "win32":
            raise Unsupported("guarded commands need forks and process groups, which Windows does not have")
        pairs = [socket.socketpair() for _ in range(1 + _KINDS)]
        # The first only tells by its end that this process is gone.
        self._plugs = [own for own, _ in (*pairs[1:], pairs[0])]
        others = [other.fileno() for _, other in pairs]
        root = os.path.abspath(os.path.join(__file__, *[os.pardir] * 4))
        code = _PROGRAM.format(root=root, control=others[0], kinds=others[1:])
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code],
            stdin=null,
            stdout=null,
            stderr=null,
            cwd="/",
            env={},
            pass_fds=others,
            start_new_session=True,
        )
        for _, other in pairs:
            other.close()
        return self._plugs


def _kind(sandbox: Confinement | None) -> int:
    """Which of the keeper's kinds of supervisors is needed."""
    if sandbox is None or not sandbox.namespaces:
        return 0
    return 2 if sandbox.no_network else 1


def _plain(order: Order) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "argv": list(order.argv),
        "cwd": order.cwd,
        "env": dict(order.env),
        "keep": [number for _, number in order.keep],
        "terminal": order.terminal,
        "limits": dict(order.limits),
        "sandbox": None,
    }
    if order.sandbox is not None:
        plain["sandbox"] = msgspec.to_builtins(order.sandbox)
    return plain


def memory_file(data: bytes) -> int:
    """A file without a name, in memory where that is possible, to be read from its start."""
    maker: Any = getattr(os, "memfd_create", None)
    if maker is None:
        import tempfile

        with tempfile.TemporaryFile() as unnamed:
            descriptor: int = os.dup(unnamed.fileno())
    else:
        descriptor = maker("forge")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
