"""The terminal a process is in: its modes, its size, who is in front; and programs in other terminals."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from forge.foundation.system.process import Unsupported

if sys.platform != "win32":
    import termios
    import tty

OWN = "/dev/tty"


def usable_terminal(path: str = OWN) -> bool:
    """Whether the terminal can be opened and this process may read from it without being stopped."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(descriptor)


def read_modes(descriptor: int) -> Any:
    """The modes of a terminal, to be given back by `restore_modes`; None if it is none."""
    if sys.platform == "win32":
        return None
    try:
        return termios.tcgetattr(descriptor)
    except (termios.error, ValueError):
        return None


def restore_modes(descriptor: int, modes: Any) -> None:
    """Gives a terminal the modes it had; a terminal that is gone needs none."""
    if sys.platform != "win32" and modes is not None:
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)


def make_raw(descriptor: int) -> None:
    """Every key arrives at once and as it is."""
    if sys.platform != "win32":
        with suppress(termios.error):
            tty.setraw(descriptor, termios.TCSADRAIN)


def terminal_size(descriptor: int) -> tuple[int, int]:
    """Rows and columns; 24 and 80 where nobody knows."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return 24, 80
    return size.lines or 24, size.columns or 80


def spawn_in_terminal(argv: Sequence[str], env: Mapping[str, str], slave: int) -> int:
    """Starts a program as leader of a session whose terminal is `slave`; its number. Raises OSError."""
    if sys.platform == "win32":
        raise Unsupported("a program in a terminal of its own needs ConPTY, which is not supported yet")
    name = os.ttyname(slave)
    # Opened by name, after the session is made: that makes it the controlling terminal.
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    return os.posix_spawnp(argv[0], list(argv), dict(env), file_actions=actions, setsid=True)
