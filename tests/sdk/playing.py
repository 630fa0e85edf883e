"""Runs a program of an Agent SDK with `forge` as its CLI, every scenario in directories of its own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from fakemodel import serve
from forge_run import environment
from sdk.scenarios import TURNS, turns

ROOT = Path(__file__).resolve().parents[2]
SDKS = ROOT / ".sdk"
# The scenarios are shared out, so that no test takes long.
PARTS = 3
PROJECT_SETTINGS = {"permissions": {"deny": ["Bash(touch *)"]}}


class Played(NamedTuple):
    """What the program saw, and what the model was asked, per scenario."""

    facts: dict[str, dict[str, Any]]
    bodies: dict[str, list[Any]]


def play(command: list[str], place: Path, scenarios: dict[str, list[Any]], **env: str) -> Played:
    """Runs `command PLAN.json`; the plan names the CLI and the place of each of these scenarios."""
    cli = place / "forge"
    cli.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m forge "$@"\n')
    cli.chmod(0o755)
    with contextlib.ExitStack() as stack:
        places, servers = {}, {}
        for name, said in scenarios.items():
            cwd, home, other = (place / name / part for part in ("project", "home", "other"))
            for directory in (cwd, home, other, cwd / ".claude"):
                directory.mkdir(parents=True)
            (other / "note.txt").write_text("remember this\n")
            (cwd / ".claude" / "settings.json").write_text(json.dumps(PROJECT_SETTINGS))
            if name not in ("no_sources", "sources"):
                (cwd / ".claude" / "settings.json").unlink()
            server = stack.enter_context(serve(turns(said, str(cwd), str(other))))
            servers[name] = server
            places[name] = {"cwd": str(cwd), "home": str(home), "other": str(other), "url": server.url}
        plan = place / "plan.json"
        plan.write_text(json.dumps({"cli": str(cli), "places": places}))
        clean = environment(place) | {"CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK": "1"} | env
        done = subprocess.run([*command, str(plan)], cwd=place, env=clean, capture_output=True, timeout=100)
    if done.returncode:
        raise AssertionError(done.stderr.decode("utf-8", "replace")[-4000:])
    facts = json.loads(done.stdout.decode().splitlines()[-1])
    assert sorted(facts) == sorted(places)
    return Played(facts, {name: server.bodies for name, server in servers.items()})


def share(part: int) -> dict[str, list[Any]]:
    """The scenarios of one part."""
    return dict(list(TURNS.items())[part::PARTS])


def different(facts: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Seen and expected facts of the scenarios where they differ."""
    pairs = {name: (seen, expected.get(name)) for name, seen in facts.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
