"""Entry point of diffy."""

from __future__ import annotations

import os
import sys

from forge.hosts.diffy.main import run


def main() -> int:
    """Runs the command line and returns the exit code."""
    try:
        return run(sys.argv[1:], os.environ)
    except BrokenPipeError:
        # Whoever read our output has gone; python would complain again while closing standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
