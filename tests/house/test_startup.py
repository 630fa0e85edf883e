"""What a run may import. Sets of packages are exact where milliseconds would be guesses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from fakemodel.server import serve
from forge_run import MODEL, environment

START = "import sys; from forge.__main__ import main; sys.exit(main())"

IMPORTLIB = ("importlib", "warnings")
COLLECTIONS = ("collections", "itertools", "keyword", "operator", "reprlib")


def loaded(*argv: str, env: dict[str, str], code: str = START) -> set[str]:
    """Top-level packages the child imports, as the interpreter itself reports them."""
    child = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, *argv],
        env=env,
        cwd=env["HOME"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert child.returncode == 0, child.stdout + child.stderr[-2000:]
    reported = [line for line in child.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in reported[1:]}


def added(*argv: str, env: dict[str, str], to: str = "pass") -> set[str]:
    """Packages the program imports on top of what `to` imports; parts of the interpreter are free."""
    found = loaded(*argv, env=env) - loaded(env=env, code=to) - set(sys.builtin_module_names)
    return {name for name in found if name == "__future__" or not name.startswith("_")}


def test_version_imports_nothing_but_the_version(home: Path) -> None:
    assert added("--version", env=environment(home)) == {"__future__", "forge"}


def test_help_imports_nothing_but_the_flags(home: Path) -> None:
    assert added("--help", env=environment(home)) <= {"__future__", "forge", *IMPORTLIB, *COLLECTIONS}


def test_a_headless_job_with_one_command_needs_little_more_than_asyncio_and_msgspec(home: Path) -> None:
    turns = [[{"tool": "Bash", "input": {"command": "echo hi"}}], [{"text": "done"}]]
    with serve(turns) as server:
        env = environment(home, server.url)
        packages = added("-p", "go", "--model", MODEL, env=env, to="import asyncio, msgspec")
    assert packages <= {"__future__", "forge", "hashlib", *IMPORTLIB}
