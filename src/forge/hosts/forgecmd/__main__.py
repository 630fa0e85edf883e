"""Entry point of forgecmd. The guard comes first: other agents start it before each of their commands."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from forge.hosts.forgecmd.client import ask_daemon


def main() -> int:
    """Runs the command line and returns the exit code."""
    try:
        return _guard() if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv else _command()
    except BrokenPipeError:
        # Whoever read our output has gone; python would complain again while closing standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _guard() -> int:
    raw = sys.stdin.buffer.read()
    said = ask_daemon(raw, os.environ)
    if said is not None:
        sys.stdout.write(said)
        return 0
    # The daemon's client must not pay for the whole guard.
    code: int = import_module("forge.hosts.forgecmd.guarding").guard(
        raw, os.environ, resident="--daemon" in sys.argv
    )
    return code


def _command() -> int:
    code: int = import_module("forge.hosts.forgecmd.main").run(sys.argv[1:], os.environ)
    return code


if __name__ == "__main__":
    sys.exit(main())
