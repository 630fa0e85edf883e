"""The programs under test, each with a home and a working directory of its own and nothing of the user's."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

MODEL = "claude-sonnet-4-5"


class Subject(NamedTuple):
    name: str
    program: str
    home: str

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": "not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        }

    def job(self, port: int, job: str) -> tuple[list[str], dict[str, str]]:
        """Command and environment of a headless run of a scripted job."""
        command = [
            self.program,
            "-p",
            "go",
            "--model",
            MODEL,
            "--output-format",
            "json",
            "--allowedTools",
            "Bash",
        ]
        return command, {**self.env, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}/{job}"}


@contextmanager
def subjects(forge: str, reference: str | None) -> Iterator[list[Subject]]:
    """Forge and, if a path is given, the reference program, ready to run."""
    with tempfile.TemporaryDirectory(prefix="forge-bench-") as directory:
        found = [("forge", forge)] + ([("reference", reference)] if reference else [])
        for name, _ in found:
            Path(directory, name).mkdir()
        yield [Subject(name, os.path.abspath(path), os.path.join(directory, name)) for name, path in found]


@contextmanager
def server() -> Iterator[int]:
    """Starts the scripted model in a process of its own and yields its port."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.server"],
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        yield int(child.stdout.readline())
    finally:
        child.terminate()
        child.wait()


def installed_forge() -> str:
    """The command of the environment this runs in."""
    return os.path.join(os.path.dirname(sys.executable), "forge")
