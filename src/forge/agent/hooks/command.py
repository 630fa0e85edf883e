"""Runs a command hook: payload on stdin, bounded output, a time limit for its whole process group."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable, Mapping

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.foundation.encode import NOT_JSON
from forge.foundation.system.process import Child, Spawn, Unsupported, spawn

MAX_OUTPUT = 4 * 1024 * 1024
GRACE = 1.0
PROGRESS_EVERY = 1.0
PAUSE = 0.01
QUICK = 0.01
_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.EAGAIN)

Tell = Callable[[str, str, str], None]


class Order(msgspec.Struct, frozen=True):
    """A command hook ready to start; `argv` has all its variables replaced.

    `outlived` hears of one that has left something running in its process group; `start` starts it.
    """

    hook: Hook
    argv: list[str]
    cwd: str
    env: Mapping[str, str]
    payload: bytes
    timeout: float
    grace: float = GRACE
    outlived: Callable[[Child], None] | None = None
    start: Callable[[Spawn], Child] = spawn


class Printed:
    """What a hook has written to both its outputs, up to a limit each; the rest is read and dropped."""

    def __init__(self) -> None:
        self.both: list[bytes] = []
        self.out = Stream(self._note)
        try:
            self.err = Stream(self._note)
        except OSError:
            self.out.close()
            raise

    def _note(self, chunk: bytes) -> None:
        self.both.append(chunk)

    def listen(self) -> None:
        self.out.listen()
        self.err.listen()

    def texts(self) -> tuple[str, str, str]:
        """Both outputs apart, and together as they came; most hooks use one of them."""
        out, err = self.out.text(), self.err.text()
        return out, err, decoded(self.both) if out and err else out or err

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
        self._ended = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """From now on takes whatever comes as soon as it comes."""
        if not self._ended:
            self._loop = asyncio.get_running_loop()
            # By number: the loop would otherwise describe the socket each time it does not know it yet.
            self._loop.add_reader(self.near.fileno(), self.take)

    def take(self) -> None:
        """Reads what is there now, but not for ever if more keeps coming."""
        try:
            for _ in range(64):
                chunk = self.near.recv(65536)
                if not chunk:
                    self._stop()
                    break
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

    def _stop(self) -> None:
        self._ended = True
        if self._loop is not None:
            self._loop.remove_reader(self.near.fileno())
        self._loop = None

    def close(self) -> None:
        self._stop()
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
    try:
        child, printed, near = await _started(order)
    except (OSError, ValueError, Unsupported) as error:
        return Run(order.hook, None, failure=_not_started(error, order.argv[0]))
    if parted is not None:
        printed.out.on_chunk = lambda: _look_for_parting(printed.out, parted)
    feeding = _feed(near, order.payload)
    # Most hooks are done before listening to them would be worth its while.
    listening = loop.call_later(QUICK, printed.listen)
    reports = Reports(printed, tell) if tell is not None else None
    try:
        code = await _wait(child, order)
        printed.out.take()
        printed.err.take()
        out, err, both = printed.texts()
    finally:
        listening.cancel()
        if reports is not None:
            reports.timer.cancel()
        if feeding is not None:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        printed.close()
        near.close()
    if order.outlived is not None and child.outlived():
        order.outlived(child)
    took = (loop.time() - started) * 1000
    return Run(order.hook, code, out, err, timed_out=code is None, duration_ms=took, combined=both)


def _not_started(error: Exception, program: str) -> str:
    if not isinstance(error, OSError) or not error.errno:
        return f"Failed to run: {error}: {program}"
    reason = f"{errno.errorcode.get(error.errno, 'EUNKNOWN')}: {os.strerror(error.errno).lower()}"
    return f"Error occurred while executing hook command: {reason}, posix_spawn '{program}'"


async def _started(order: Order) -> tuple[Child, Printed, socket.socket]:
    """The hook, started as soon as the system has room for it: a guard that is left out guards nothing."""
    loop = asyncio.get_running_loop()
    until = loop.time() + order.timeout
    while True:
        try:
            return _spawned(order)
        except OSError as error:
            if error.errno not in _NO_ROOM or loop.time() > until:
                raise
        await asyncio.sleep(PAUSE)


def _spawned(order: Order) -> tuple[Child, Printed, socket.socket]:
    """The running hook, what it prints, and the end of the line its input is written to."""
    with contextlib.ExitStack() as undo:
        printed = Printed()
        undo.callback(printed.close)
        near, far = (undo.enter_context(end_) for end_ in socket.socketpair())
        ends = (far.fileno(), printed.out.far.fileno(), printed.err.far.fileno())
        child = order.start(Spawn(order.argv, order.cwd, order.env, *ends))
        undo.pop_all()
    far.close()
    printed.out.far.close()
    printed.err.far.close()
    return child, printed, near


def _look_for_parting(out: Stream, parted: asyncio.Future[float | None]) -> None:
    """A first line `{"async": true}` sends the hook into the background."""
    line = b"".join(out.chunks[:4])[:4096].partition(b"\n")[0]
    if parted.done() or b'"async"' not in line:
        return
    try:
        value = msgspec.json.decode(line)
    except NOT_JSON:
        return
    if isinstance(value, dict) and value.get("async") is True:
        limit = value.get("asyncTimeout")
        parted.set_result(float(limit) if isinstance(limit, int | float) else None)


class Reports:
    """Tells about once a second what has been printed so far."""

    def __init__(self, printed: Printed, tell: Tell) -> None:
        self._printed, self._tell, self._told = printed, tell, 0
        self._later()

    def _later(self) -> None:
        self.timer = asyncio.get_running_loop().call_later(PROGRESS_EVERY, self._report)

    def _report(self) -> None:
        size = self._printed.out.size + self._printed.err.size
        if size != self._told:
            self._told = size
            self._tell(*self._printed.texts())
        self._later()


def _feed(near: socket.socket, payload: bytes) -> asyncio.Task[None] | None:
    """Writes the payload and the end of input; what does not fit at once is written by a task."""
    near.setblocking(False)
    try:
        sent = near.send(payload)
        if sent == len(payload):
            near.shutdown(socket.SHUT_WR)
            return None
    except BlockingIOError:
        sent = 0
    except OSError:
        return None
    return asyncio.ensure_future(_feed_rest(near, payload[sent:]))


async def _feed_rest(near: socket.socket, payload: bytes) -> None:
    """A hook that does not read its input is fine."""
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
    await child.ends_within(grace)
    child.kill()
    await child.wait()
