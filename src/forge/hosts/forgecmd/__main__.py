"""Entry point of forgecmd. The guard comes first: other agents start it before each of their commands."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from forge.hosts.forgecmd.client import ask_daemon

# What is said when the guard itself is broken: nobody has looked, so somebody must.
_BROKEN = (
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", '
    '"permissionDecisionReason": "forgecmd could not be loaded, so nobody has judged this command."}}\n'
)


def main() -> int:
    """Runs the command line and returns the exit code."""
    try:
        guarding = sys.argv[1:2] == ["hook"] and not {"--help", "-h"} & set(sys.argv)
        return _guard() if guarding else _command()
    except BrokenPipeError:
        # Whoever read our output has gone; python would complain again while closing standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _guard() -> int:
    raw = sys.stdin.buffer.read() if sys.stdin is not None else b""
    said = ask_daemon(raw, os.environ)
    if said is not None:
        sys.stdout.write(said)
        return 0
    gc.disable()  # a process that ends at once need not tidy up
    try:
        # The daemon's client must not pay for the whole guard.
        guard = import_module("forge.hosts.forgecmd.guarding").guard
    except (ImportError, OSError, SyntaxError, ValueError):
        sys.stdout.write(_BROKEN)
        return 0
    code: int = guard(raw, os.environ, resident="--daemon" in sys.argv)
    return code


def _command() -> int:
    code: int = import_module("forge.hosts.forgecmd.main").run(sys.argv[1:], os.environ)
    return code


if __name__ == "__main__":
    sys.exit(main())
