"""Child processes in sessions of their own, which can be waited for without a thread and killed whole."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

if sys.platform == "linux":
    import fcntl


# How long the system may take to end a process that was killed.
_DYING = 1.0


class Unsupported(Exception):
    """This operating system lacks what was asked for; the text says what."""


class Spawn(msgspec.Struct, frozen=True):
    """What to start. `stdin`, `stdout` and `stderr` are descriptors, -1 is the null device.

    `keep` are further descriptors the child inherits under the same number.
    """

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    stdin: int = -1
    stdout: int = -1
    stderr: int = -1
    keep: tuple[int, ...] = ()


class Child:
    """A running child. Its exit is noticed through a process descriptor where there is one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    async def wait(self) -> int:
        """The exit code; minus the signal's number if a signal ended it. May be called more than once."""
        if self._process.returncode is None:
            descriptor = _open_process(self.pid)
            if descriptor is None:
                return await asyncio.to_thread(self._process.wait)
            try:
                await readable(descriptor)
            finally:
                os.close(descriptor)
        return self._process.wait()

    async def ends_within(self, seconds: float) -> bool:
        """Whether it ends within a time."""
        try:
            async with asyncio.timeout(seconds):
                await self.wait()
        except TimeoutError:
            return False
        return True

    def interrupt(self) -> None:
        """Asks every process of the session to stop what it does."""
        self._signal(signal.SIGINT)

    def terminate(self) -> None:
        """Asks every process of the session to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends every process of the session."""
        self._signal(signal.SIGKILL)

    def has_ended(self) -> bool:
        """Whether it is over, without waiting."""
        return self._process.poll() is not None

    def outlived(self) -> bool:
        """Whether something of its session is still there."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, 0)
            return True
        return False

    def _signal(self, number: int) -> None:
        # After the leader has been waited for its number may belong to a stranger, but a group lives on
        # as long as one of its members, so the group may be signalled safely then too.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def spawn(what: Spawn, in_child: Callable[[], None] | None = None) -> Child:
    """Starts a child as leader of a new session; raises OSError.

    With `in_child`, which the child does before its program begins, it stays in this session, as a group.
    """
    if sys.platform == "win32":
        raise Unsupported("running commands needs process groups, which are not available on Windows yet")
    null = subprocess.DEVNULL
    process = subprocess.Popen(
        list(what.argv),
        cwd=what.cwd,
        env=dict(what.env),
        stdin=null if what.stdin < 0 else what.stdin,
        stdout=null if what.stdout < 0 else what.stdout,
        stderr=null if what.stderr < 0 else what.stderr,
        pass_fds=what.keep,
        start_new_session=in_child is None,
        process_group=None if in_child is None else 0,
        preexec_fn=in_child,
    )
    return Child(process)


async def readable(descriptor: int) -> None:
    """Returns as soon as a descriptor can be read."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, wake)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


def pipe(size: int = 0) -> tuple[int, int]:
    """Read end (not blocking) and write end of a pipe, with a larger buffer where the system allows it."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    if size and sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, size)
    return reading, writing


def descendants(pid: int) -> list[int]:
    """The processes below a process, also those that left its session; empty where they cannot be listed."""
    parents = parents_of_all()
    found = [pid]
    for known in found:
        found.extend(child for child, parent in parents.items() if parent == known)
    return found[1:]


def parents_of_all() -> dict[int, int]:
    """Every process of the machine with its parent; empty where they cannot be listed."""
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return parents
    for name in names:
        if name.isdecimal():
            with (
                contextlib.suppress(OSError, ValueError, IndexError),
                open(f"/proc/{name}/stat", "rb") as file,
            ):
                parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    return parents


def carriers(entry: str) -> list[int]:
    """Processes with this entry (`NAME=value`) in their environment; empty where that cannot be known."""
    found: list[int] = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if entry.encode() in file.read().split(b"\0"):
                    found.append(int(name))
    return found


def kill_process(pid: int) -> None:
    """Ends one process, if it still exists and is ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


async def end_process(pid: int) -> None:
    """Ends one process and waits a moment until it is gone."""
    descriptor = _open_process(pid)
    kill_process(pid)
    if descriptor is None:
        return
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DYING):
                await readable(descriptor)
    finally:
        os.close(descriptor)


def _open_process(pid: int) -> int | None:
    opener: Any = getattr(os, "pidfd_open", None)
    if opener is None:
        return None
    try:
        descriptor: int = opener(pid)
    except OSError:
        return None
    return descriptor
