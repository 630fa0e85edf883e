"""A terminal that a full-screen program borrows: its modes come back after every kind of end, kill -9 too."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from forge.foundation.system.process import Unsupported

if sys.platform != "win32":
    import termios

_STREAMS = (0, 1, 2)
_GOOD = b"."
# Reports of mouse, paste, focus and size off, the kitty keyboard too; wrapping, main screen and cursor on.
RESET = (
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[?1004l\x1b[?2048l"
    b"\x1b[<u\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"
)
_ENDING = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")


class Borrowed:
    """The terminal as 0, 1 and 2, and what these were before."""

    def __init__(self, terminal: int, pipe: int, watcher: int) -> None:
        self.descriptor = terminal
        self.originals = [_copy(number) for number in _STREAMS]
        self._modes = termios.tcgetattr(terminal)
        self._pipe = pipe
        self._watcher = watcher
        self._open = True

    def give_back(self, *, clean: bool) -> None:
        """Puts the modes back; `clean` when the program has left its screen itself. Works once."""
        if not self._open:
            return
        self._open = False
        if not clean:
            # What other threads still have to draw must not follow the reset.
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in _STREAMS:
                os.dup2(nothing, number)
            os.close(nothing)
            with suppress(OSError):
                os.write(self.descriptor, RESET)
        _set_modes(self.descriptor, self._modes, flush=not clean)
        with suppress(OSError):
            os.write(self._pipe, _GOOD)
        os.close(self._pipe)
        with suppress(OSError):
            os.waitpid(self._watcher, 0)


@contextmanager
def borrow(path: str, on_signal: Callable[[int], None]) -> Iterator[Borrowed]:
    """Makes a terminal the standard streams for the time of the block.

    A signal that ends processes gives the terminal back, calls `on_signal` and ends the process.
    """
    if sys.platform == "win32":
        raise Unsupported("the review screen needs a POSIX terminal")
    terminal = _above(os.open(path, os.O_RDWR | os.O_NOCTTY))
    pipe, watcher = _watch(terminal)
    borrowed = Borrowed(terminal, pipe, watcher)
    clean = False

    def end(number: int, _frame: FrameType | None) -> None:
        borrowed.give_back(clean=False)
        on_signal(number)
        os._exit(128 + number)

    before = {name: signal.signal(getattr(signal, name), end) for name in _ENDING}
    try:
        for number in _STREAMS:
            os.dup2(terminal, number)
        yield borrowed
        clean = True
    finally:
        borrowed.give_back(clean=clean)
        os.close(terminal)
        for number, original in zip(_STREAMS, borrowed.originals, strict=True):
            os.dup2(original, number)
            os.close(original)
        for name, old in before.items():
            signal.signal(getattr(signal, name), old)


def _copy(number: int) -> int:
    """A copy of a standard stream; of nothing if it is closed."""
    try:
        return _above(os.dup(number))
    except OSError:
        return _above(os.open(os.devnull, os.O_RDWR))


def _above(descriptor: int) -> int:
    """The same file under a number that is no standard stream."""
    if descriptor > _STREAMS[-1]:
        return descriptor
    higher = _above(os.dup(descriptor))
    os.close(descriptor)
    return higher


def _watch(terminal: int) -> tuple[int, int]:
    """Starts the process that resets the terminal if this one dies without a word."""
    modes = termios.tcgetattr(terminal)
    read, write = os.pipe()
    # The watcher must not die of what kills us before it has learned to ignore it.
    old = signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in _ENDING])
    watcher = os.fork()
    if watcher:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
        os.close(read)
        return _above(write), watcher
    try:
        os.close(write)
        # In a session of its own it gets no signals of the terminal, and may set modes at any time.
        os.setsid()
        for name in _ENDING:
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        _wait(read, terminal, modes)
    finally:
        os._exit(0)


def _wait(pipe: int, terminal: int, modes: list[Any]) -> None:
    for number in _STREAMS:
        with suppress(OSError):
            os.close(number)
    if os.read(pipe, 1) == _GOOD:
        return
    os.write(terminal, RESET)
    _set_modes(terminal, modes, flush=True)


def _set_modes(terminal: int, modes: list[Any], *, flush: bool) -> None:
    """Also from the background, where the system would stop the process; never waits for the output."""
    old = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with suppress(termios.error):
        if flush:
            termios.tcflush(terminal, termios.TCIFLUSH)
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
    signal.signal(signal.SIGTTOU, old)
