"""A borrowed terminal comes back as it was, however the borrower ends. Each case is a process of its own."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios

import pytest

from forge.foundation.system.controlling import spawn_in_terminal
from forge.foundation.system.fullscreen import RESET
from forge.foundation.system.terminal import open_terminal
from tmux import wait_for

PROGRAM = """
import os, signal, sys, tty
from forge.foundation.system.fullscreen import borrow

with borrow(os.ttyname(0), lambda number: None):
    tty.setraw(0)
    os.write(1, b"\\x1b[?1049hdrawn")
    exec(sys.argv[1])
os.write(1, b"after")
"""


def run(action: str) -> tuple[int, bytes]:
    """How a program with this action ends, and what its terminal gets until its modes are as before."""
    master, slave = open_terminal(24, 80, plain=False)
    before = termios.tcgetattr(slave)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    pid = spawn_in_terminal([sys.executable, "-c", PROGRAM, action], env, slave)
    seen, code = b"", None
    while code is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if ended else None
        while select.select([master], [], [], 0.02)[0]:
            seen += os.read(master, 1 << 16)
    # When the program was killed its watcher comes a little later.
    wait_for(lambda: termios.tcgetattr(slave) == before)
    while select.select([master], [], [], 0)[0]:
        seen += os.read(master, 1 << 16)
    os.close(master)
    os.close(slave)
    return code, seen


@pytest.mark.requirement("S3-08")
@pytest.mark.parametrize(
    ("action", "code", "reset"),
    [
        ("pass", 0, False),
        ("raise ValueError", 1, True),
        ("sys.exit(3)", 3, True),
        ("os.kill(os.getpid(), signal.SIGTERM)", 128 + signal.SIGTERM, True),
        ("os.kill(os.getpid(), signal.SIGHUP)", 128 + signal.SIGHUP, True),
        ("os.kill(os.getpid(), signal.SIGINT)", 128 + signal.SIGINT, True),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, True),
    ],
)
def test_the_terminal_is_given_back(action: str, code: int, reset: bool) -> None:
    ended, seen = run(action)
    assert (ended, b"drawn" in seen, RESET in seen) == (code, True, reset)


def test_what_is_drawn_late_does_not_follow_the_reset() -> None:
    draw = "lambda: [os.write(2, b'x') for _ in iter(int, 1)]"
    late = f"import threading; threading.Thread(target={draw}, daemon=True).start()"
    _, seen = run(f"{late}; os.kill(os.getpid(), signal.SIGTERM)")
    assert seen.endswith(RESET)
