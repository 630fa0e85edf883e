"""Starts the real program, piped or on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from warm import warm_forge

COMMAND = [sys.executable, "-m", "forge"]
TIMEOUT = 20


class Done(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str


def forge(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> Done:
    """Runs to the end with pipes; `env` is added to the isolated environment of the test."""
    done = subprocess.run(
        [warm_forge(), *words],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


class Terminal:
    """A run on a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.process = process
        self._screen = screen
        self.shown = ""

    def read_until(self, text: str) -> None:
        """Reads until the text appears; fails the test when the program ends before."""
        while text not in self.shown:
            assert self._read(), f"{text!r} never appeared in:\n{self.shown}"

    def type(self, text: str) -> None:
        """Types text, as a person would."""
        os.write(self._screen, text.encode())

    def finish(self) -> int:
        """Reads the rest and returns the exit code."""
        while self._read():
            pass
        return self.process.wait(TIMEOUT)

    def _read(self) -> bool:
        try:
            data = os.read(self._screen, 1 << 16)
        except OSError:  # how a terminal says that nobody writes to it any more
            return False
        self.shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def terminal(
    *words: str, cwd: Path, columns: int = 80, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Starts the program on a terminal of the given width."""
    screen, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env={**os.environ, "TERM": "xterm", **(env or {})},
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield Terminal(process, screen)
    finally:
        process.kill()
        process.wait()
        os.close(screen)
