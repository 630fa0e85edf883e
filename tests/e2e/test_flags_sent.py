"""Flags that show in what the model is sent."""

from __future__ import annotations

from pathlib import Path

from fakemodel import serve
from forge_run import STREAM, environment, forge


def test_betas_of_the_command_line_and_the_environment_are_named(home: Path, tmp_path: Path) -> None:
    with serve([[{"text": "done"}]]) as server:
        env = environment(home, server.url, ANTHROPIC_BETAS="one-2026-01-01")
        forge("-p", "hi", *STREAM, "--betas", "two-2026-01-01,three", cwd=tmp_path, env=env)
        (request,) = server.requests
    names = request.headers["anthropic-beta"].split(",")
    assert names[-3:] == ["one-2026-01-01", "two-2026-01-01", "three"]
