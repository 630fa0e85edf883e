"""Runs a command hook: payload on stdin, bounded output, a time limit for its whole process group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Mapping

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.foundation.system.process import Child, Spawn, spawn

MAX_OUTPUT = 4 * 1024 * 1024
GRACE = 1.0
PROGRESS_EVERY = 1.0

Tell = Callable[[str, str, str], None]


class Order(msgspec.Struct, frozen=True):
    """A command hook ready to start; `argv` has all its variables replaced."""

    hook: Hook
    argv: list[str]
    cwd: str
    env: Mapping[str, str]
    payload: bytes
    timeout: float
    tty: bool = False
    grace: float = GRACE


class Printed:
    """What a hook has written to both its outputs, up to a limit each; the rest is read and dropped."""

    def __init__(self) -> None:
        self.out, self.err = Stream(self._note), Stream(self._note)
        self.both: list[bytes] = []

    def _note(self, chunk: bytes) -> None:
        self.both.append(chunk)

    def texts(self) -> tuple[str, str, str]:
        return self.out.text(), self.err.text(), decoded(self.both)

    def close(self) -> None:
        self.out.close()
        self.err.close()


class Stream:
    """One end of a socket pair and what it has received."""

    def __init__(self, note: Callable[[bytes], None]) -> None:
        self.near, self.far = socket.socketpair()
        self.near.setblocking(False)
        self.chunks: list[bytes] = []
        self.size = 0
        self.on_chunk: Callable[[], None] | None = None
        self._note = note
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self.near, self.take)

    def take(self) -> None:
        """Reads what is there now, but not for ever if more keeps coming."""
        try:
            for _ in range(64):
                chunk = self.near.recv(65536)
                if not chunk:
                    self._loop.remove_reader(self.near)
                    return
                self._keep(chunk)
        except (BlockingIOError, ConnectionError):
            pass
        if self.on_chunk is not None:
            self.on_chunk()

    def _keep(self, chunk: bytes) -> None:
        if self.size < MAX_OUTPUT:
            kept = chunk[: MAX_OUTPUT - self.size]
            self.chunks.append(kept)
            self._note(kept)
        self.size += len(chunk)

    def close(self) -> None:
        self._loop.remove_reader(self.near)
        self.near.close()
        self.far.close()

    def text(self) -> str:
        return decoded(self.chunks)


def decoded(chunks: list[bytes]) -> str:
    return b"".join(chunks).decode("utf-8", "replace")


async def run_command(
    order: Order, parted: asyncio.Future[float | None] | None = None, tell: Tell | None = None
) -> Run:
    """Runs the hook until its own process ends; what it leaves in the background does not hold it up.

    `parted` gets a value when the hook itself says that nobody shall wait for it.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    printed = Printed()
    near, far = socket.socketpair()
    try:
        child = _spawned(order, far, printed)
    except OSError as error:
        _close(printed, near, far)
        reason = f"{os.strerror(error.errno or 0)}: {order.argv[0]}"
        return Run(order.hook, None, failure=f"Failed to run: {reason}")
    if parted is not None:
        printed.out.on_chunk = lambda: _look_for_parting(printed.out, parted)
    beside = [asyncio.ensure_future(_feed(near, order.payload))]
    if tell is not None:
        beside.append(asyncio.ensure_future(_report(printed, tell)))
    try:
        code = await _wait(child, order)
        printed.out.take()
        printed.err.take()
        out, err, both = printed.texts()
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        _close(printed, near, far)
    took = (loop.time() - started) * 1000
    return Run(order.hook, code, out, err, timed_out=code is None, duration_ms=took, combined=both)


def _spawned(order: Order, far: socket.socket, printed: Printed) -> Child:
    out, err = printed.out.far, printed.err.far
    child = spawn(Spawn(order.argv, order.cwd, order.env, far.fileno(), out.fileno(), err.fileno()))
    far.close()
    out.close()
    err.close()
    return child


def _close(printed: Printed, *ends: socket.socket) -> None:
    printed.close()
    for end_ in ends:
        end_.close()


def _look_for_parting(out: Stream, parted: asyncio.Future[float | None]) -> None:
    """A first line `{"async": true}` sends the hook into the background."""
    line = b"".join(out.chunks[:4])[:4096].partition(b"\n")[0]
    if parted.done() or b'"async"' not in line:
        return
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return
    if isinstance(value, dict) and value.get("async") is True:
        limit = value.get("asyncTimeout")
        parted.set_result(float(limit) if isinstance(limit, int | float) else None)


async def _report(printed: Printed, tell: Tell) -> None:
    """Tells about once a second what has been printed so far."""
    told = 0
    while True:
        await asyncio.sleep(PROGRESS_EVERY)
        size = printed.out.size + printed.err.size
        if size != told:
            told = size
            tell(*printed.texts())


async def _feed(near: socket.socket, payload: bytes) -> None:
    """Writes the payload and the end of input; a hook that does not read it is fine."""
    near.setblocking(False)
    with contextlib.suppress(OSError):
        await asyncio.get_running_loop().sock_sendall(near, payload)
        near.shutdown(socket.SHUT_WR)


async def _wait(child: Child, order: Order) -> int | None:
    """The exit code, None after the time limit; an interrupt ends the hook too."""
    try:
        async with asyncio.timeout(order.timeout):
            return await child.wait()
    except TimeoutError:
        await end(child, order.grace)
        return None
    except asyncio.CancelledError:
        child.kill()
        await child.wait()
        raise


async def end(child: Child, grace: float = GRACE) -> None:
    """Ends a hook with its group, first politely."""
    child.terminate()
    try:
        async with asyncio.timeout(grace):
            await child.wait()
    except TimeoutError:
        pass
    child.kill()
    await child.wait()
