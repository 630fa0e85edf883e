"""Pseudo terminals: making them, their size, who is in front, and whether a program waits for input."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from enum import StrEnum

from forge.foundation.system.process import Unsupported, parents_of_all

if sys.platform != "win32":
    import fcntl
    import termios

_TIOCGPTN = 0x80045430
# Numbers of system calls that wait: reading, and waiting for one of several things.
_READ = {"x86_64": (0,), "aarch64": (63,)}
_POLL = {"x86_64": (7, 23, 232, 270, 271, 281), "aarch64": (22, 72, 73)}


class Waiting(StrEnum):
    """What the program in front of a terminal does."""

    BUSY = "busy"
    READING = "reading"  # blocked in a read from the terminal
    PERHAPS = "perhaps"  # waits for events, of which input is one
    UNKNOWN = "unknown"


def open_terminal(rows: int, columns: int, *, plain: bool) -> tuple[int, int]:
    """The master, which does not block, and the slave of a new terminal.

    `plain`: for output alone, neither echo nor carriage returns are added.
    """
    if sys.platform == "win32":
        raise Unsupported("terminals for commands need ConPTY, which is not supported yet")
    master, slave = os.openpty()
    os.set_blocking(master, False)
    set_size(master, rows, columns)
    if plain:
        modes = termios.tcgetattr(slave)
        modes[1] &= ~termios.ONLCR
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
    return master, slave


def set_size(master: int, rows: int, columns: int) -> None:
    """Gives a terminal another size; programs in it are told."""
    if sys.platform != "win32":
        size = rows.to_bytes(2, sys.byteorder) + columns.to_bytes(2, sys.byteorder) + bytes(4)
        fcntl.ioctl(master, termios.TIOCSWINSZ, size)


def signal_front(master: int, number: int) -> bool:
    """Sends a signal to the group of processes in front; False if there is none."""
    try:
        group = os.tcgetpgrp(master)
        if group <= 1:
            return False
        os.killpg(group, number)
    except OSError:
        return False
    return True


def hides_input(master: int) -> bool:
    """Whether typed lines are not shown: the mark of a question for a password."""
    if sys.platform == "win32":
        return False
    try:
        modes = termios.tcgetattr(master)[3]
    except termios.error:
        return False
    return bool(modes & termios.ICANON) and not modes & termios.ECHO


def waiting(master: int) -> Waiting:
    """What the program in front does, as far as the system tells."""
    try:
        group = os.tcgetpgrp(master)
        name = _slave_name(master)
    except OSError:
        return Waiting.UNKNOWN
    states = {_state(pid, name) for pid in _members(group)}
    for state in (Waiting.READING, Waiting.PERHAPS, Waiting.BUSY):
        if state in states:
            return state
    return Waiting.UNKNOWN


def _slave_name(master: int) -> str:
    if sys.platform != "linux":
        return ""
    number = int.from_bytes(fcntl.ioctl(master, _TIOCGPTN, bytes(4)), sys.byteorder)
    return f"/dev/pts/{number}"


def _members(group: int) -> list[int]:
    members = []
    for pid in parents_of_all():
        with suppress(OSError):
            if os.getpgid(pid) == group:
                members.append(pid)
    return members


def _state(pid: int, terminal: str) -> Waiting:
    try:
        with open(f"/proc/{pid}/syscall", "rb") as file:
            words = file.read().split()
    except OSError:
        return Waiting.UNKNOWN
    if not words or words[0] == b"running":
        return Waiting.BUSY
    number = int(words[0])
    machine = os.uname().machine
    if number in _POLL.get(machine, ()):
        return Waiting.PERHAPS
    if number not in _READ.get(machine, ()):
        return Waiting.BUSY
    with suppress(OSError):
        link = os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}")
        return Waiting.READING if link in (terminal, "/dev/tty") else Waiting.BUSY
    return Waiting.UNKNOWN
