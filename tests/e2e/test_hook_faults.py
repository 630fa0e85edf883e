from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import Run, environment, forge

LS = {"tool": "Bash", "input": {"command": "touch ran; echo hi"}}
STREAM = ("--output-format", "stream-json", "--verbose", "--allowedTools", "Bash")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    return tmp_path / "project"


def play(project: Path, hooks: list[dict[str, Any]], event: str = "PreToolUse", open_files: int = 0) -> Run:
    """One call with these hooks around it, to its end."""
    settings = {"hooks": {event: [{"hooks": [{"type": "command", **hook} for hook in hooks]}]}}
    (project / ".claude" / "settings.json").write_text(json.dumps(settings))
    with serve([[LS], [{"text": "done"}]]) as server:
        env = environment(project.parent / "home", server.url)
        ended = forge("-p", "go", *STREAM, cwd=project, env=env, open_files=open_files)
    assert (ended.code, ended.of("result")[-1]["result"]) == (0, "done")
    return ended


def left(project: Path) -> list[str]:
    """Command lines of processes that still work in the project."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd") == str(project):
                found.append(Path("/proc", name, "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


FAULTS = {
    "much output": ("head -c 30000000 /dev/zero", 60),
    "binary output": ("head -c 100000 /dev/urandom", 60),
    "closed input": ("exec <&-", 60),
    "closed outputs": ("exec >&- 2>&-", 60),
    "killed": ("kill -9 $$", 60),
    "interrupted": ("kill -INT $$", 60),
    "hangs": ("sleep 60", 0.1),
    "hangs with children": ("sleep 60 & sleep 61 & wait", 0.1),
    "children keep the pipes": ("sleep 60 & exit 0", 60),
    "rewrites the settings": ("echo '{' > .claude/settings.json", 60),
    "deletes the settings": ("rm -rf .claude", 60),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_turn_goes_on_and_nothing_is_left(name: str, project: Path) -> None:
    command, timeout = FAULTS[name]
    play(project, [{"command": command, "timeout": timeout}])
    assert ((project / "ran").exists(), left(project)) == (True, [])


def test_a_hook_may_delete_its_own_file(project: Path) -> None:
    script = project / "hook.sh"
    script.write_text('#!/bin/sh\nrm "$0"\n')
    script.chmod(0o755)
    play(project, [{"command": str(script)}])
    assert ((project / "ran").exists(), script.exists()) == (True, False)


def test_more_hooks_than_descriptors_all_run(project: Path) -> None:
    play(project, [{"command": f"echo {n} >> seen"} for n in range(100)], open_files=128)
    seen = (project / "seen").read_text().split()
    assert (sorted(map(int, seen)), (project / "ran").exists()) == (list(range(100)), True)


def test_a_guard_among_more_hooks_than_descriptors_is_heard(project: Path) -> None:
    play(project, [*({"command": f": {n}"} for n in range(100)), {"command": "exit 2"}], open_files=128)
    assert not (project / "ran").exists()
