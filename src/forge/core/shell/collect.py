"""Collects what comes out of a pipe: the start and the end in memory, the whole in a file when it is long."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

_BLOCK = 1 << 18
# Output up to this size is kept in memory whole.
_MEMORY = 1 << 20
_TAIL = 1 << 16
# A command that never stops printing must not fill the disk.
_MAX_FILE = 1 << 30


class Collector:
    """Reads a pipe while the event loop runs."""

    def __init__(self, descriptor: int, path: str, on_output: Callable[[bytes], None] | None = None) -> None:
        self.head = bytearray()
        self.size = 0
        self.path = ""
        self._tail = bytearray()
        self._descriptor = descriptor
        self._wanted_path = path
        self._on_output = on_output
        self._overflown = False
        self._file = -1
        self._ended: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def tail(self) -> bytes:
        """The end of output that was too long to be kept whole."""
        return bytes(self._tail[-_TAIL:])

    def start(self, on_progress: Callable[[str], None] | None, every: float) -> None:
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        loop.add_reader(self._descriptor, self._read)
        if on_progress is not None:
            self._timer = loop.call_later(every, self._report, on_progress, every, loop)

    def save_all(self, path: str) -> None:
        """Keeps everything in a file from now on, also what has been collected so far; reports no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._file >= 0:
            with suppress(OSError):
                os.symlink(self.path, path)
            return
        self._overflown, self._wanted_path = True, path
        self._open()
        self.head = bytearray()

    def add(self, words: str) -> None:
        """Adds a remark to the file, if there is one."""
        if self._file >= 0:
            self._write(words.encode())

    async def drain(self, patience: float) -> None:
        """Takes what is there; waits a little for the end, which children in the background may hold up."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while self._descriptor >= 0 and self._read() and loop.time() < deadline:
            pass
        if self._ended is not None and not self._ended.done():
            await asyncio.wait([self._ended], timeout=max(deadline - loop.time(), 0))

    def finish(self) -> None:
        """Stops collecting. A pipe that others still write to is emptied until they are done."""
        if self._timer is not None:
            self._timer.cancel()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._descriptor >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._descriptor)
            loop.add_reader(self._descriptor, _discard, self._descriptor, loop)
            self._descriptor = -1

    def close(self) -> None:
        """Gives up before anything was started."""
        os.close(self._descriptor)
        self._descriptor = -1

    def _read(self) -> bool:
        try:
            block = os.read(self._descriptor, _BLOCK)
        except BlockingIOError:
            return False
        if block:
            self._keep(block)
            return True
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)
        return False

    def _keep(self, block: bytes) -> None:
        self.size += len(block)
        if self._on_output is not None:
            self._on_output(block)
        if not self._overflown and len(self.head) + len(block) <= _MEMORY:
            self.head += block
            return
        if not self._overflown:
            self._overflown = True
            self._open()
        if self._file >= 0:
            self._write(block)
        self._tail += block
        if len(self._tail) > 4 * _TAIL:
            del self._tail[:-_TAIL]

    def _open(self) -> None:
        path = self._wanted_path
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # The command itself may write to the file too.
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        self.path = path
        self._write(bytes(self.head))

    def _write(self, block: bytes) -> None:
        try:
            if self.size > _MAX_FILE:
                raise OSError(f"more than {_MAX_FILE} bytes")
            view = memoryview(block)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            # A full disk costs the file, not the command.
            os.close(self._file)
            self._file, self.path = -1, ""

    def _report(
        self, on_progress: Callable[[str], None], every: float, loop: asyncio.AbstractEventLoop
    ) -> None:
        recent = self._tail or self.head
        on_progress(bytes(recent[-1000:]).decode("utf-8", "replace"))
        self._timer = loop.call_later(every, self._report, on_progress, every, loop)


def _discard(descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
    try:
        if os.read(descriptor, _BLOCK):
            return
    except BlockingIOError:
        return
    loop.remove_reader(descriptor)
    os.close(descriptor)
