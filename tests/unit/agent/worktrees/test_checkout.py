from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from forge.agent.worktrees.checkout import (
    Made,
    Wanted,
    WorktreeError,
    enter,
    make,
    name_problem,
    owner_note,
    random_name,
    remove,
    work_in,
)
from unit.agent.repositories import ENV, branches, git, repository

SEGMENTS = 'each "/"-separated segment must be non-empty and contain only letters, digits, dots, underscores'


def made(root: Path, name: str, wanted: Wanted = Wanted(), owner: str = "me (pid 1)") -> Made:  # noqa: B008 - frozen
    return asyncio.run(make(str(root), name, owner, wanted, ENV))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("feat1", ""),
        ("feat/sub-1_x.y", ""),
        (".hidden", ""),
        ("", f'Invalid worktree name "": {SEGMENTS}, and dashes'),
        ("a b", f'Invalid worktree name "a b": {SEGMENTS}, and dashes'),
        ("a/", f'Invalid worktree name "a/": {SEGMENTS}, and dashes'),
        ("../x y", 'Invalid worktree name "../x y": must not contain "." or ".." path segments'),
        (".", 'Invalid worktree name ".": must not contain "." or ".." path segments'),
        ("x" * 65, "Invalid worktree name: must be 64 characters or fewer (got 65)"),
    ],
)
def test_names_are_checked_like_those_of_the_reference(name: str, problem: str) -> None:
    assert name_problem(name) == problem


def test_a_random_name_is_a_valid_one() -> None:
    assert (random_name(b"\x00\x01\xff"), name_problem(random_name(os.urandom(3)))) == (
        "amber-carving-wren",
        "",
    )


@pytest.mark.requirement("S1-110", "S1-111")
def test_a_worktree_is_made_locked_and_found_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = repository(tmp_path / "p")
    head = git(root, "rev-parse", "HEAD")
    first = made(root, "feat/one")
    path = root / ".claude/worktrees/feat+one"
    assert first == Made(str(path), "worktree-feat+one", head)
    assert "locked me (pid 1)" in git(root, "worktree", "list", "--porcelain")
    (path / "new.txt").write_text("x")
    git(path, "add", "-A")
    git(path, "commit", "-qm", "own")
    dead = owner_note("session", "x").replace(str(os.getpid()), "999999999")
    git(root, "worktree", "unlock", str(path))
    git(root, "worktree", "lock", "--reason", dead, str(path))
    again = made(root, "feat/one", owner="you (pid 2)")
    assert again == Made(str(path), "worktree-feat+one", head, resumed=True)
    assert "locked you (pid 2)" in git(root, "worktree", "list", "--porcelain")
    assert asyncio.run(work_in(again, ENV)) == (0, 1)
    assert capfd.readouterr().out == ""


def test_a_worktree_of_another_running_program_keeps_its_lock(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    made(root, "w", owner=f"other (pid {os.getppid()})")
    again = made(root, "w", owner="mine (pid 1)")
    assert (again.resumed, again.other) == (True, os.getppid())
    assert f"locked other (pid {os.getppid()})" in git(root, "worktree", "list", "--porcelain")


def test_commits_of_a_worktree_that_is_gone_are_not_lost(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    git(root, "branch", "worktree-w")
    git(root, "checkout", "-q", "worktree-w")
    (root / "own.txt").write_text("x")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "own")
    git(root, "checkout", "-q", "main")
    assert (Path(made(root, "w").path) / "own.txt").read_text() == "x"


@pytest.mark.parametrize(("fresh", "files"), [(True, ["a.txt", "up.txt"]), (False, ["a.txt", "mine.txt"])])
def test_new_work_starts_from_the_remote_or_from_here(tmp_path: Path, fresh: bool, files: list[str]) -> None:
    origin = repository(tmp_path / "origin")
    git(tmp_path, "clone", "-q", str(origin), "p")
    root = tmp_path / "p"
    for where, name in ((root, "mine.txt"), (origin, "up.txt")):
        (where / name).write_text("x")
        git(where, "add", "-A")
        git(where, "commit", "-qm", name)
    path = made(root, "w", Wanted(fresh=fresh)).path
    assert sorted(n for n in os.listdir(path) if n != ".git") == files


def test_an_unreachable_remote_does_not_matter(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    git(tmp_path, "clone", "-q", str(origin), "p")
    os.rename(origin, tmp_path / "gone")
    assert made(tmp_path / "p", "w").base == git(tmp_path / "p", "rev-parse", "origin/main")


def test_settings_link_directories_into_a_worktree(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    (root / "node_modules").mkdir()
    path = made(root, "w", Wanted(links=["node_modules", "../out", "missing", "/abs"])).path
    assert os.readlink(f"{path}/node_modules") == str(root / "node_modules")
    assert sorted(os.listdir(path)) == [".git", "a.txt", "node_modules"]


def test_without_a_commit_there_is_nothing_to_start_from(tmp_path: Path) -> None:
    with pytest.raises(WorktreeError, match=r"^Failed to resolve base branch .HEAD.: .*Make a first commit"):
        made(repository(tmp_path / "p", commits=0), "w")


def test_what_git_refuses_is_reported_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(WorktreeError, match=r"(?s)Failed to create worktree: .*not a valid branch name"):
        made(repository(tmp_path / "p"), "a..b")


@pytest.mark.requirement("S1-115")
def test_work_is_counted_and_removal_takes_the_branch_along(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    tree = made(root, "w")
    assert asyncio.run(work_in(tree, ENV)) == (0, 0)
    (Path(tree.path) / "a.txt").write_text("other")
    (Path(tree.path) / "deep").mkdir()
    (Path(tree.path) / "deep" / "b").write_text("new")
    assert asyncio.run(work_in(tree, ENV)) == (2, 0)
    asyncio.run(remove(str(root), tree, ENV))
    assert (os.path.exists(tree.path), branches(root)) == (False, ["main"])
    assert asyncio.run(work_in(tree, ENV)) is None


def test_only_registered_worktrees_can_be_entered(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    tree = made(root, "w")
    assert asyncio.run(enter(str(root), tree.path, ENV)).branch == "worktree-w"
    for path in (tmp_path, root):
        with pytest.raises(WorktreeError, match="is not a registered worktree of"):
            asyncio.run(enter(str(root), str(path), ENV))
    with pytest.raises(WorktreeError, match="ENOENT: no such file or directory, realpath"):
        asyncio.run(enter(str(root), "/nowhere/x", ENV))


def test_a_missing_git_is_an_error_like_any_other(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    with pytest.raises(WorktreeError, match="git cannot be started: No such file"):
        asyncio.run(make(str(root), "w", "me", Wanted(), {"PATH": "/nowhere"}))
