"""A person in front of a terminal: one tmux is the terminal, another one in it is the tmux they work with."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
SECONDS = 20.0
CONFIG = """set -g status off
set -g default-shell /bin/sh
set -g default-command /bin/sh
set -s escape-time 0
"""


class Terminal:
    """`run` starts a command in a shell, `press` sends keys, `screen` is what is seen."""

    def __init__(
        self, place: str, env: dict[str, str], cwd: Path, *, nested: bool, size: tuple[int, int]
    ) -> None:
        self.place = Path(place)
        self._outer = str(self.place / "o")
        self._inner = str(self.place / "i")
        self._env = env
        config = self.place / "conf"
        config.write_text(CONFIG)
        shell = f"tmux -S {self._inner} -f {config} new-session" if nested else "sh"
        columns, rows = size
        self.tmux(
            "-f", str(config), "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(cwd), shell
        )

    def tmux(self, *words: str, inner: bool = False) -> str:
        path = self._inner if inner else self._outer
        done = subprocess.run(["tmux", "-S", path, *words], env=self._env, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}"

    def run(self, line: str) -> None:
        """Types a command line."""
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def until(self, *texts: str) -> str:
        """What is seen as soon as all these texts are."""
        shown = [""]

        def seen() -> bool:
            shown[0] = self.screen()
            return all(text in shown[0] for text in texts)

        wait_for(seen, lambda: f"{texts} not in:\n{shown[0]}")
        return shown[0]

    def gone(self, text: str) -> None:
        wait_for(lambda: text not in self.screen(), lambda: f"{text!r} still in:\n{self.screen()}")


def wait_for(
    happened: Callable[[], object], otherwise: Callable[[], str] = lambda: "it did not happen"
) -> None:
    """Waits for something that is soon to happen."""
    pause = threading.Event()
    end = time.monotonic() + SECONDS
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(otherwise())
        pause.wait(0.03)


@contextmanager
def terminal(
    env: dict[str, str], cwd: Path, *, nested: bool = True, size: tuple[int, int] = (110, 34)
) -> Iterator[Terminal]:
    with TemporaryDirectory(prefix="t", dir="/tmp") as place:
        made = Terminal(place, {"TERM": "xterm-256color", **env}, cwd, nested=nested, size=size)
        try:
            if nested:
                wait_for(lambda: "%0" in made.tmux("list-panes", inner=True))
            yield made
        finally:
            made.tmux("kill-server", inner=True)
            made.tmux("kill-server")


def command_path(place: Path, name: str, argv: list[str]) -> str:
    """A directory for PATH in which `name` runs these words."""
    bin_dir = place / "bin"
    bin_dir.mkdir(exist_ok=True)
    script = bin_dir / name
    words = " ".join(f"'{word}'" for word in argv)
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    return f"{bin_dir}{os.pathsep}{os.environ['PATH']}"
