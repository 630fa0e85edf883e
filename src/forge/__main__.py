"""Entry point. Looks at the arguments before importing anything, so that `forge --version` is instant."""

from __future__ import annotations

import sys

from forge.version import VERSION


def main() -> int:
    """Runs the command line and returns the exit code."""
    argv = sys.argv[1:]
    if argv in (["--version"], ["-v"]):
        sys.stdout.write(f"{VERSION} (Forge)\n")
        return 0
    from forge.hosts.cli.main import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
