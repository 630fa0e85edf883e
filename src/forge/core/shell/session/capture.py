"""Collects the output of a command: start and end in memory, the whole in a file, up to a limit."""

from __future__ import annotations

import asyncio
import errno
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

_BLOCK = 1 << 16
# A loud command must not keep the event loop from its other work.
_MOST_PER_TURN = 1 << 22
HALF = 1 << 19
MOST_IN_FILE = 1 << 26


class Ring:
    """The first and the last half mebibyte of a stream, and how long it was."""

    def __init__(self, half: int = HALF) -> None:
        self.head = bytearray()
        self.size = 0
        self._half = half
        self._blocks: deque[bytes] = deque()
        self._later = 0

    def add(self, block: bytes) -> None:
        self.size += len(block)
        room = self._half - len(self.head)
        if room > 0:
            self.head += block[:room]
            block = block[room:]
            if not block:
                return
        blocks = self._blocks
        blocks.append(block)
        self._later += len(block)
        while self._later - len(blocks[0]) >= self._half:
            self._later -= len(blocks.popleft())

    @property
    def tail(self) -> bytes:
        """The end, as far as it is not in the head."""
        return b"".join(self._blocks)[-self._half :]

    @property
    def omitted(self) -> int:
        """How many bytes between head and tail are gone."""
        return self.size - len(self.head) - min(self._later, self._half)


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
        taken = 0
        while taken < _MOST_PER_TURN:
            try:
                block = os.read(self.descriptor, _BLOCK)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.EIO:  # the way a terminal says that nobody has it open any more
                    raise
                block = b""
            if not block:
                self.abandon()
                return
            taken += len(block)
            self._keep(block)

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

    def _open(self) -> None:
        """Called before memory stops holding everything, so that the file can have it all."""
        path, self._wanted = self._wanted, ""
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            self.path = path
            self._write(bytes(self.ring.head))
            self._write(self.ring.tail)

    def _write(self, block: bytes) -> None:
        try:
            if self.ring.size > MOST_IN_FILE:
                raise OSError("the file would become too large")
            view = memoryview(block)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            # A full disk costs the rest of the file, not the command.
            os.close(self._file)
            self._file = -1
