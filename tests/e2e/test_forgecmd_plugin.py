"""The plugin directory of the repository in Forge: valid, and the guard decides about Bash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge.hosts.forgecmd.client import end_daemon
from forge_run import STREAM, environment, forge

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
STARTER = PLUGINS / "forgecmd/scripts/forgecmd.sh"


@pytest.mark.parametrize("place", ["", "forgecmd"])
def test_the_plugin_and_its_marketplace_are_valid(place: str, home: Path, tmp_path: Path) -> None:
    run = forge(
        "plugin", "validate", str(PLUGINS / place), "--strict", "--json", cwd=tmp_path, env=environment(home)
    )
    assert (run.code, json.loads(run.out)["success"]) == (0, True)


def test_forge_runs_what_the_guard_allows_and_nothing_it_refuses(home: Path, tmp_path: Path) -> None:
    commands = ["echo $((6*7)) > out.txt && cat out.txt", "git push --force", "git push"]
    turns: list[Any] = [[{"tool": "Bash", "input": {"command": command}}] for command in commands]
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    program = bin_dir / "forgecmd"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m forge.hosts.forgecmd "$@"\n')
    program.chmod(0o755)
    with serve([*turns, [{"text": "done"}]]) as server:
        env = environment(home, server.url, PATH=os.pathsep.join([str(bin_dir), os.environ["PATH"]]))
        words = (
            "-p",
            "go",
            "--plugin-dir",
            str(PLUGINS / "forgecmd"),
            "--disallowedTools",
            "mcp__*",
            *STREAM,
        )
        run = forge(*words, cwd=tmp_path, env=env)
        bodies = server.bodies
    end_daemon(env)
    assert run.code == 0, run.err
    blocks = [b for m in bodies[-1]["messages"] if isinstance(m["content"], list) for b in m["content"]]
    ran, refused, asked = (json.dumps(b["content"]) for b in blocks if b.get("type") == "tool_result")
    assert "42" in ran
    assert "forgecmd: deny: dangerous, risk 8." in refused
    assert "forgecmd: ask: caution, risk 6. publishes commits." in asked


@pytest.mark.parametrize(("word", "code"), [("hook", 0), ("mcp", 127)])
def test_where_forgecmd_is_missing_the_guard_asks(word: str, code: int, tmp_path: Path) -> None:
    lonely = tmp_path / "a/b/c/forgecmd.sh"
    lonely.parent.mkdir(parents=True)
    lonely.write_text(STARTER.read_text())
    done = subprocess.run(
        ["/bin/sh", str(lonely), word],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == code
    if word == "hook":
        told = json.loads(done.stdout)["hookSpecificOutput"]
        assert (told["permissionDecision"], "not installed" in told["permissionDecisionReason"]) == (
            "ask",
            True,
        )
    else:
        assert done.stderr == "forgecmd is not installed: pip install forgecode\n"
