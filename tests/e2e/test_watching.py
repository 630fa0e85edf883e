from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import environment, forge

DONE = [{"text": "done"}]


def play(top: Path, hooks: dict[str, Any], *commands: str) -> list[dict[str, Any]]:
    """A run with these hooks that runs the commands; returns what the hooks were told."""
    project, home = top / "p", top / "home"
    (project / ".claude").mkdir(parents=True)
    home.mkdir()
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    turns: list[Any] = [[{"tool": "Bash", "input": {"command": c}}] for c in commands]
    with serve([*turns, DONE]) as server:
        env = environment(home, server.url)
        ended = forge("-p", "go", "--dangerously-skip-permissions", cwd=project, env=env)
    assert ended.code == 0, ended.err
    log = project / "told.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def hook(command: str, matcher: str = "") -> list[dict[str, Any]]:
    return [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]


def until(text: str) -> str:
    """A command that waits until the log contains a text; bounded."""
    return f"for i in $(seq 200); do grep -q '{text}' told.log 2>/dev/null && break; sleep 0.02; done"


LOG = 'cat >> "$CLAUDE_PROJECT_DIR/told.log"'


@pytest.mark.requirement("S1-102", "S1-106")
def test_a_watched_file_is_told_to_the_hooks_that_name_it(tmp_path: Path) -> None:
    hooks = {"FileChanged": [*hook(LOG, "w.txt|v.txt"), *hook("echo no >> wrong.log", "other.txt")]}
    told = play(tmp_path, hooks, f"echo 1 > w.txt; {until('w.txt')}; rm w.txt")
    assert [(t["file_path"], t["event"]) for t in told] == [(str(tmp_path / "p/w.txt"), "add")]
    assert not (tmp_path / "p/wrong.log").exists()


@pytest.mark.requirement("S1-107")
def test_a_session_start_hook_names_files_to_watch(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.txt"
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [str(path)]}}
    hooks = {"SessionStart": hook(f"echo '{json.dumps(answer)}'"), "FileChanged": hook(LOG)}
    told = play(tmp_path, hooks, f"echo 1 > {path}; {until('elsewhere')}")
    assert [(t["file_path"], t["event"]) for t in told] == [(str(path), "add")]


@pytest.mark.requirement("S1-49", "S1-109")
def test_a_change_of_directory_is_told_and_may_set_variables(tmp_path: Path) -> None:
    hooks = {"CwdChanged": hook(f"{LOG}; echo 'export WHERE=below' >> $CLAUDE_ENV_FILE")}
    told = play(tmp_path, hooks, "mkdir sub; cd sub", "echo $WHERE > got.txt", "cd sub 2>/dev/null; true")
    assert [(t["old_cwd"], t["new_cwd"], t["cwd"]) for t in told] == [
        (str(tmp_path / "p"), str(tmp_path / "p/sub"), str(tmp_path / "p/sub"))
    ]
    assert (tmp_path / "p/sub/got.txt").read_text() == "below\n"
