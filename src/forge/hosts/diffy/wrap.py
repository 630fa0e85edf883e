"""`diffy run -- COMMAND`: the command runs in an inner terminal, and a review borrows the outer one."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.system.controlling import (
    OWN,
    make_raw,
    read_modes,
    restore_modes,
    spawn_in_terminal,
    terminal_size,
    usable_terminal,
)
from forge.foundation.system.fullscreen import borrow
from forge.foundation.system.terminal import open_terminal, set_size
from forge.hosts.diffy.surfaces.modes import Modes
from forge.hosts.diffy.surfaces.opened import Child
from forge.hosts.diffy.surfaces.place import screen_command
from forge.hosts.diffy.surfaces.runtime import new_id, runtime_dir
from forge.hosts.diffy.surfaces.wire import Plug, listen
from forge.hosts.diffy.watch import asked_for

_BLOCK = 1 << 16
# What an agent prints during a review; its screen is drawn anew afterwards anyway.
_MOST_HELD = 4 << 20
_RESIZE = 0.2


def command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """`diffy run -- COMMAND …`; the exit code."""
    return run(words[1:] if words[:1] == ["--"] else words, env)


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Runs a command to its end and returns its exit code."""
    if not argv:
        raise UsageError("Nothing to run.", "Write: diffy run -- claude")
    if not usable_terminal():
        raise ForgeError("diffy run needs a terminal.", "Start the command itself without one.")
    path = os.path.join(runtime_dir(env), f"run-{new_id()}")
    rows, columns = terminal_size(0)
    master, slave = open_terminal(rows, columns, plain=False)
    listener = listen(path)
    try:
        pid = spawn_in_terminal(argv, {**env, "DIFFY_SOCK": path}, slave)
    except OSError as error:
        raise ForgeError(f"{argv[0]} cannot be started: {error.strerror}") from None
    finally:
        os.close(slave)
    wrapper = _Wrapper(master, pid, env)
    try:
        return wrapper.attend(listener)
    finally:
        listener.close()
        with suppress(FileNotFoundError):
            os.unlink(path)


class _Wrapper:
    """The outer terminal, the inner one, and whose turn it is."""

    def __init__(self, master: int, pid: int, env: Mapping[str, str]) -> None:
        self._master = master
        self._pid = pid
        self._env = env
        self._modes = Modes()
        self._keys, self._screen = 0, 1
        self._typed = b""
        self._smaller = 0.0

    def attend(self, listener: Any) -> int:
        """Passes keys and output on until the command ends."""
        before = read_modes(self._keys)
        # The command hears of our end because its terminal goes away.
        with borrow(OWN, lambda _: None):
            resized = signal.signal(signal.SIGWINCH, self._resized)
            make_raw(self._keys)
            try:
                while self._turn(listener, before):
                    pass
            finally:
                signal.signal(signal.SIGWINCH, resized)
            _write(self._screen, self._modes.leave())
            restore_modes(self._keys, before)
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return 128 - code if code < 0 else code

    def _turn(self, listener: Any, before: Any) -> bool:
        writing = [self._master] if self._typed else []
        pause = _RESIZE if self._smaller else None
        ready, writable, _ = select.select([self._master, self._keys, listener], writing, [], pause)
        if self._smaller and time.monotonic() >= self._smaller + _RESIZE:
            self._smaller = 0.0
            self._resized(0, None)
        if writable:
            self._typed = self._typed[os.write(self._master, self._typed) :]
        if self._keys in ready:
            self._typed += _read(self._keys)
        if listener in ready:
            with suppress(BlockingIOError):
                self._lend(asked_for(Plug(listener.accept()[0])), before)
        if self._master in ready:
            block = _read(self._master)
            if not block:
                return False
            self._modes.follow(block)
            _write(self._screen, block)
        return True

    def _lend(self, folder: str, before: Any) -> None:
        """The review has the terminal; what the command prints is held back."""
        if not folder:
            return
        _write(self._screen, self._modes.leave())
        restore_modes(self._keys, before)
        child = Child(screen_command(folder), self._env, OWN)
        held = bytearray()
        while not child.failed():
            ready, _, _ = select.select([self._master], [], [], 0.1)
            if self._master in ready:
                block = _read(self._master)
                if not block:
                    break
                held += block
                del held[:-_MOST_HELD]
        child.close(hurry=True)
        make_raw(self._keys)
        _write(self._screen, self._modes.enter())
        self._modes.follow(bytes(held))
        _write(self._screen, bytes(held))
        self._repaint()

    def _repaint(self) -> None:
        # Programs draw everything anew only when they see another size, so it lasts a moment.
        rows, columns = terminal_size(self._keys)
        set_size(self._master, max(rows - 1, 1), columns)
        self._smaller = time.monotonic()

    def _resized(self, _: int, __: FrameType | None) -> None:
        set_size(self._master, *terminal_size(self._keys))


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _BLOCK)
    except OSError as error:
        if error.errno == errno.EIO:  # the last program in the terminal has closed it
            return b""
        raise


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
