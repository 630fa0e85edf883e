"""The programs under test, each with a home and a working directory of its own and nothing of the user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.jobs import JOBS

TESTS = Path(__file__).resolve().parents[1] / "tests"
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

    def job(self, url: str) -> tuple[list[str], dict[str, str]]:
        """Command and environment of a headless run against a scripted server."""
        flags = ["--model", MODEL, "--output-format", "json", "--allowedTools", "Bash"]
        return [self.program, "-p", "go", *flags], {**self.env, "ANTHROPIC_BASE_URL": url}


@contextmanager
def subjects(forge: str, reference: str | None) -> Iterator[list[Subject]]:
    """Forge and, if a path is given, the reference program, ready to run."""
    with tempfile.TemporaryDirectory(prefix="forge-bench-") as directory:
        found = [("forge", forge)] + ([("reference", reference)] if reference else [])
        for name, _ in found:
            Path(directory, name).mkdir()
        yield [Subject(name, os.path.abspath(path), os.path.join(directory, name)) for name, path in found]


@contextmanager
def servers(jobs: list[str]) -> Iterator[dict[str, str]]:
    """Starts the scripted server of the test suite once per job and yields their addresses."""
    with ExitStack() as stack:
        yield {job: stack.enter_context(_server(job)) for job in jobs}


@contextmanager
def _server(job: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as scenario:
        json.dump(JOBS[job].turns, scenario)
        scenario.flush()
        child = subprocess.Popen(
            [sys.executable, "-m", "fakemodel", scenario.name], cwd=TESTS, stdout=subprocess.PIPE, text=True
        )
        try:
            assert child.stdout is not None
            yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        finally:
            child.terminate()
            child.wait()


def installed_forge() -> str:
    """The command of the environment this runs in."""
    return os.path.join(os.path.dirname(sys.executable), "forge")
