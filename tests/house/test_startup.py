"""What a run may import. Sets of packages are exact where milliseconds would be guesses."""

from __future__ import annotations

import subprocess
import sys

START = "import sys; from forge.__main__ import main; sys.exit(main())"


def loaded(*argv: str, code: str = START) -> set[str]:
    """Top-level packages the child imports, as the interpreter itself reports them."""
    child = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, *argv], capture_output=True, text=True, timeout=20
    )
    reported = [line for line in child.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in reported[1:]}


def added(*argv: str) -> set[str]:
    """What the program imports on top of an empty one."""
    return loaded(*argv) - loaded(code="pass")


def test_version_imports_nothing_but_the_version() -> None:
    assert added("--version") == {"__future__", "forge"}
