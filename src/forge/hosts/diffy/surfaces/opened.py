"""A screen that was asked for: whether it can still appear, and how it is closed and cleaned up."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from forge.foundation.system.controlling import read_modes, restore_modes
from forge.foundation.system.fullscreen import RESET

_PATIENCE = 2.0
# Who asked the hook to end kills it soon after.
_HURRY = 0.6


class Opened(Protocol):
    """What a surface gives back when it was asked for a screen."""

    def failed(self) -> bool:
        """Whether it is certain that no screen will come."""

    def close(self, *, hurry: bool) -> None:
        """Waits until the screen is gone if it is on the agent's terminal; `hurry` takes it away."""


class Launched:
    """A command that makes a terminal elsewhere. `blocks`: it lives as long as the terminal does."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, blocks: bool = False) -> None:
        self._blocks = blocks
        null = subprocess.DEVNULL
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
                list(argv), env=dict(env), stdin=null, stdout=null, stderr=null
            )
        except OSError:
            self._process = None

    def failed(self) -> bool:
        if self._process is None:
            return True
        code = self._process.poll()
        return code is not None and (self._blocks or code != 0)

    def wait(self) -> int:
        """The exit code of the command."""
        return self._process.wait() if self._process else 127

    def close(self, *, hurry: bool) -> None:
        """The terminal is not the agent's: it stays, and says that nobody waits any more."""


class Child:
    """A screen on a terminal that belongs to somebody else as well, who gets it back as it was."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], terminal: str) -> None:
        self._terminal = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        self._modes = read_modes(self._terminal)
        self._process = subprocess.Popen(
            list(argv), env=dict(env), stdin=self._terminal, stdout=self._terminal, stderr=self._terminal
        )

    def failed(self) -> bool:
        return self._process.poll() is not None

    def pause(self, seconds: float) -> None:
        """Waits a while, or less if the screen ends."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def close(self, *, hurry: bool) -> None:
        if hurry:
            self._process.terminate()
        for end in (self._process.terminate, self._process.kill):
            try:
                self._put_right(self._process.wait(_HURRY if hurry else _PATIENCE))
                return
            except subprocess.TimeoutExpired:
                end()
        self._put_right(self._process.wait())

    def _put_right(self, code: int) -> None:
        if self._terminal < 0:
            return
        if code < 0:  # killed: it could not do it itself
            os.write(self._terminal, RESET)
        restore_modes(self._terminal, self._modes)
        os.close(self._terminal)
        self._terminal = -1


class Asked:
    """A companion that was asked over its socket. It said yes, so a screen will come or the wait ends."""

    def failed(self) -> bool:
        return False

    def close(self, *, hurry: bool) -> None:
        """The companion closes the screen when the connection to the hook ends."""
