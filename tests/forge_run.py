"""Runs the real `forge` as a child process, against a scripted server or model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

MODEL = "claude-sonnet-4-5"


class Run(NamedTuple):
    """A finished child process."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind: str, subtype: str | None = None) -> list[dict[str, Any]]:
        return [r for r in self.records if r["type"] == kind and subtype in (None, r.get("subtype"))]


def environment(home: Path, url: str = "", **more: str) -> dict[str, str]:
    """A clean environment with an own home and, if a server is named, a dummy key for it."""
    model = {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": url} if url else {}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "IS_SANDBOX": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **model,
        **more,
    }


def forge(
    *args: str, cwd: Path, env: dict[str, str], stdin: str | bytes | None = None, open_files: int = 0
) -> Run:
    """Runs `forge ARGS` to its end, allowing it `open_files` descriptors (0: as many as here)."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    limit = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh"] if open_files else []
    done = subprocess.run(
        [*limit, sys.executable, "-m", "forge", *args],
        cwd=cwd,
        env=env,
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        timeout=60,
    )
    return Run(
        done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )


STREAM = ("--output-format", "stream-json", "--verbose", "--model", MODEL)
