from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import Run, environment, forge
from unit.agent.repositories import branches, git, repository

STREAM = ("--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
DONE = [{"text": "done"}]


def bash(command: str) -> list[dict[str, Any]]:
    return [{"tool": "Bash", "input": {"command": command}}]


def play(top: Path, turns: list[Any], *args: str, cwd: Path | None = None) -> Run:
    (top / "home").mkdir(exist_ok=True)
    with serve(turns) as server:
        env = environment(top / "home", server.url)
        return forge("-p", "go", *STREAM, *args, cwd=cwd or top / "p", env=env)


def texts(ended: Run) -> list[str]:
    blocks = [b for r in ended.of("user") for b in r["message"]["content"] if b["type"] == "tool_result"]
    return [b["content"] for b in blocks]


@pytest.mark.requirement("S1-110", "S1-114")
def test_a_run_takes_place_in_its_worktree_and_finds_it_again(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    path = str(root / ".claude/worktrees/feat")
    first = play(tmp_path, [bash("pwd; touch new; git branch --show-current"), DONE], "--worktree", "feat")
    assert (texts(first), first.of("system", "init")[0]["cwd"]) == ([f"{path}\nworktree-feat"], path)
    (root / "deep").mkdir()
    again = play(tmp_path, [bash("pwd; ls"), DONE], "-w", "feat", cwd=root / "deep")
    assert texts(again) == [f"{path}\na.txt\nnew"]
    assert (root / "new").exists() is False


def test_a_run_in_a_worktree_can_leave_and_remove_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    leave = [{"tool": "ExitWorktree", "input": {"action": "remove"}}]
    ended = play(tmp_path, [leave, bash("pwd"), DONE], "--worktree", "w")
    assert texts(ended)[1] == str(root)
    assert branches(root) == ["main"]


def test_a_worktree_without_a_name_gets_one(tmp_path: Path) -> None:
    repository(tmp_path / "p")
    ended = play(tmp_path, [DONE], "--worktree")
    name = os.path.basename(ended.of("system", "init")[0]["cwd"])
    assert branches(tmp_path / "p") == ["main", f"worktree-{name}"]


def test_settings_of_the_worktree_count_and_those_beside_it_do_not(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    (root / ".claude").mkdir()
    settings = root / ".claude/settings.json"
    settings.write_text(json.dumps({"env": {"WHERE": "committed"}}))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "settings")
    settings.write_text(json.dumps({"env": {"WHERE": "edited"}}))
    ended = play(tmp_path, [bash("echo $WHERE"), DONE], "--worktree", "w")
    assert texts(ended) == ["committed"]


@pytest.mark.requirement("S1-112")
def test_a_hook_names_the_directory_and_hears_the_session(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    (root / ".claude").mkdir()
    hook = f"cat > {tmp_path}/told.json; mkdir -p {tmp_path}/wt; echo noise; echo {tmp_path}/wt"
    hooks = {"WorktreeCreate": [{"hooks": [{"type": "command", "command": hook}]}]}
    (root / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    ended = play(tmp_path, [bash("pwd"), DONE], "--worktree", "feat")
    assert texts(ended) == [str(tmp_path / "wt")]
    told = json.loads((tmp_path / "told.json").read_text())
    assert [told[k] for k in ("hook_event_name", "name", "cwd")] == ["WorktreeCreate", "feat", str(root)]
    assert list((tmp_path / "home/.claude/projects").glob("*-p/*")) == []


@pytest.mark.parametrize(
    ("commits", "name", "said"),
    [
        (None, "f", "Error: Can only use --worktree in a git repository, but {p} is not a git repository."),
        (0, "f", 'Error creating worktree: Failed to resolve base branch "HEAD"'),
        (1, "a b", 'Error creating worktree: Invalid worktree name "a b"'),
    ],
)
def test_what_cannot_be_done_is_said_before_the_run(
    tmp_path: Path, commits: int | None, name: str, said: str
) -> None:
    root = tmp_path / "p"
    root.mkdir()
    if commits is not None:
        repository(root, commits=commits)
    ended = play(tmp_path, [DONE], "--worktree", name)
    assert (ended.code, ended.out, ended.err.startswith(said.replace("{p}", str(root)))) == (1, "", True)


def test_a_bare_repository_has_no_place_for_one(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    git(tmp_path / "p", "init", "-q", "--bare", ".")
    ended = play(tmp_path, [DONE], "--worktree", "f")
    assert "Can only use --worktree in a git repository" in ended.err
