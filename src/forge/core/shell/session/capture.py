"""Collects the output of a command: start and end in memory, the whole in a file, up to a limit."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

_BLOCK = 1 << 16
# What only goes to the file passes through one small piece of memory: it stays in the processor's cache.
_PASSAGE = 1 << 17
# A loud command must not keep the event loop from its other work.
_MOST_PER_TURN = 1 << 22
_LONGEST_TURN = 0.01
# Behind this much output it is cheaper to wait a moment for more than to go round the event loop.
_LOUD = 1 << 18
_MOMENT_MS = 1
HALF = 1 << 19
MOST_IN_FILE = 1 << 26


class Ring:
    """The first and the last half mebibyte of a stream, and how long it was."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.size = 0
        self._blocks: deque[bytes] = deque()
        self._later = 0

    def add(self, block: bytes) -> None:
        self.size += len(block)
        room = HALF - len(self.head)
        if room > 0:
            self.head += block[:room]
            block = block[room:]
            if not block:
                return
        blocks = self._blocks
        blocks.append(block)
        self._later += len(block)
        while self._later - len(blocks[0]) >= HALF:
            self._later -= len(blocks.popleft())

    def passed(self, count: int) -> None:
        """Counts output that is kept elsewhere; `take_back` must follow."""
        self.size += count

    def take_back(self, tail: bytes) -> None:
        """Takes the end of the stream from whoever has kept it."""
        self._blocks = deque([tail])
        self._later = len(tail)

    @property
    def tail(self) -> bytes:
        """The end, as far as it is not in the head."""
        return b"".join(self._blocks)[-HALF:]

    @property
    def omitted(self) -> int:
        """How many bytes between head and tail are gone."""
        return self.size - len(self.head) - min(self._later, HALF)


class Capture:
    """Reads a descriptor that does not block while the event loop runs, and owns it."""

    def __init__(
        self, descriptor: int, path: str = "", on_output: Callable[[bytes], None] | None = None
    ) -> None:
        self.ring = Ring()
        self.path = ""
        self.descriptor = descriptor
        self._wanted = path
        self._on_output = on_output
        self._file = -1
        self._passage = memoryview(b"")
        self._waiting = 0
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._ended = asyncio.Event()
        self._moved = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    async def drained(self, silence: float) -> None:
        """Takes what is there; waits for the end, but no longer than until nothing has come for a while."""
        while not self._ended.is_set():
            self._moved.clear()
            try:
                async with asyncio.timeout(silence):
                    await self._moved.wait()
            except TimeoutError:
                return

    def save(self) -> None:
        """Writes what was collected to the file, if that has not been done."""
        if self._wanted:
            self._open()

    def settle(self) -> None:
        """Takes the end of the output back from the file."""
        self._flush()
        if self._file >= 0 and self._passage:
            length = min(HALF, self.ring.size - len(self.ring.head))
            self.ring.take_back(os.pread(self._file, length, self.ring.size - length))

    def close(self) -> None:
        """Stops; children that still write are not cut off, their output is thrown away."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self.descriptor >= 0:
            asyncio.get_running_loop().add_reader(self.descriptor, self._discard)

    def abandon(self) -> None:
        """Lets go of the descriptor."""
        if self.descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1
        self._ended.set()
        self._moved.set()

    def _read(self) -> None:
        self._moved.set()
        taken, until = 0, time.monotonic() + _LONGEST_TURN
        while taken < _MOST_PER_TURN:
            try:
                count = self._take()
            except BlockingIOError:
                if self._more(until):
                    continue
                break
            except OSError as error:
                if error.errno != errno.EIO:  # the way a terminal says that nobody has it open any more
                    raise
                count = 0
            if not count:
                self.abandon()
                break
            taken += count
        self._flush()

    def _more(self, until: float) -> bool:
        loud = self.ring.size > _LOUD and time.monotonic() < until
        return loud and bool(self._poll.poll(_MOMENT_MS))

    def _take(self) -> int:
        if not self._passage:
            block = os.read(self.descriptor, _BLOCK)
            if block:
                self._keep(block)
            return len(block)
        count = os.readv(self.descriptor, [self._passage[self._waiting :]])
        self.ring.passed(count)
        self._waiting += count
        if self._waiting > _PASSAGE // 2:
            self._flush()
        return count

    def _flush(self) -> None:
        """Writes to the file what waits for it."""
        if self._waiting:
            block, self._waiting = self._passage[: self._waiting], 0
            self._write(block)

    def _discard(self) -> None:
        try:
            if os.read(self.descriptor, _BLOCK):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.abandon()

    def _keep(self, block: bytes) -> None:
        if self._wanted and self.ring.size + len(block) > 2 * HALF:
            self._open()
        self.ring.add(block)
        if self._on_output is not None:
            self._on_output(block)
        if self._file >= 0:
            self._write(block)
            if self._file >= 0 and self._on_output is None:
                self._passage = memoryview(bytearray(_PASSAGE))

    def _open(self) -> None:
        """Called before memory stops holding everything, so that the file can have it all."""
        path, self._wanted = self._wanted, ""
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            self.path = path
            self._write(bytes(self.ring.head))
            self._write(self.ring.tail)

    def _write(self, block: bytes | memoryview) -> None:
        view = memoryview(block)
        try:
            if self.ring.size > MOST_IN_FILE:
                raise OSError("the file would become too large")
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            # A full disk costs the rest of the file, not the command.
            if self._passage:
                written = os.lseek(self._file, 0, os.SEEK_END)
                begin = max(len(self.ring.head), written - HALF)
                self.ring.take_back(os.pread(self._file, HALF, begin) + view)
                self._passage = memoryview(b"")
            os.close(self._file)
            self._file = -1
