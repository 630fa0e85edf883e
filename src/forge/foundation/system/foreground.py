"""Hands the terminal this program was started in to one of its children, and takes it back."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

from forge.foundation.system.process import Child, Spawn, spawn

if sys.platform != "win32":
    import termios

_OWN = "/dev/tty"


class Foreground:
    """The terminal with its modes, as long as it is lent; `device` is its name."""

    def __init__(self, descriptor: int, modes: Any) -> None:
        self._descriptor, self._modes = descriptor, modes
        self._group = os.getpgrp()
        self.device = _name(descriptor)

    def start(self, what: Spawn) -> Child:
        """Starts a child in this session, as the group in front of the terminal; raises OSError."""
        return spawn(what, in_child=self._come_to_front)

    def end(self) -> None:
        """Puts this program in front again, with the modes as they were; a terminal that is gone is none."""
        if sys.platform == "win32":
            return
        with _unstopped(), contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(self._descriptor, self._group)
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._modes)
        os.close(self._descriptor)

    def _come_to_front(self) -> None:
        # Before the program begins, so that it never reads from behind and is stopped for it.
        with _unstopped():
            os.tcsetpgrp(self._descriptor, os.getpid())
        # Nobody would be there to continue a child that is stopped by a key.
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)


def take_terminal() -> Foreground | None:
    """The terminal of this program; None if there is none or somebody else is in front of it."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(_OWN, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            return Foreground(descriptor, termios.tcgetattr(descriptor))
    except (OSError, termios.error):
        pass
    os.close(descriptor)
    return None


@contextlib.contextmanager
def _unstopped() -> Iterator[None]:
    """Who changes a terminal from behind is stopped, unless that signal is held back."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _name(descriptor: int) -> str:
    """The device itself rather than the name that means another terminal to every process."""
    for number in (2, 1, 0, descriptor):
        with contextlib.suppress(OSError):
            # Only the controlling terminal says which group is in front.
            os.tcgetpgrp(number)
            return os.ttyname(number)
    return _OWN
