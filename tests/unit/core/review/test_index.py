from __future__ import annotations

import os
from pathlib import Path

import pytest

from review_world import World, git, put
from unit.core.review.reviewing import file, numbered, path, reject, repository, world

N60 = numbered(60)
EDITED = numbered(60, l5=b"five", l40=b"forty")

STAGED: dict[str, tuple[World, World]] = {
    "edit": ({b"a": file(N60)}, {b"a": file(EDITED)}),
    "added": ({b"k": file(b"")}, {b"k": file(b""), b"d/new": file(b"x\n")}),
    "deleted": ({b"a": file(N60), b"k": file(b"")}, {b"k": file(b"")}),
    "moved": ({b"old": file(N60)}, {b"new": file(N60)}),
    "mode": ({b"a": file(N60)}, {b"a": file(N60, 0o755)}),
    "directory to file": ({b"d/x": file(b"1\n")}, {b"d": file(b"f\n")}),
}


@pytest.mark.parametrize("name", STAGED)
def test_what_the_agent_staged_follows_the_files(name: str, tmp_path: Path) -> None:
    old, new = STAGED[name]
    repo = repository(tmp_path, old, new)
    git(repo.root, "add", "-A")
    reject(repo)
    assert world(repo) == old
    assert git(repo.root, "status", "--porcelain") == b""


def test_a_part_that_stays_is_staged_with_an_object_git_has(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    git(repo.root, "add", "-A")
    reject(repo, lambda _, unit: unit.old_start < 10)
    assert git(repo.root, "show", ":a") == numbered(60, l40=b"forty")
    git(repo.root, "fsck", "--strict")


def test_what_the_user_staged_is_left_alone(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(b"user\n" + N60)})
    git(repo.root, "add", "-A")
    put(repo.root, {b"a": file(b"user\n" + EDITED)})
    index = git(repo.root, "ls-files", "-s")
    reject(repo)
    assert (git(repo.root, "ls-files", "-s"), world(repo)) == (index, {b"a": file(N60)})


def test_an_intention_to_add_goes_with_its_file(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"k": file(b"")}, {b"k": file(b""), b"new": file(b"x\n")})
    git(repo.root, "add", "-N", "new")
    reject(repo)
    assert git(repo.root, "status", "--porcelain") == b""


def test_an_untracked_file_that_comes_back_stays_untracked(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"k": file(b"")}, {b"k": file(b""), b"mine": file(b"x\n")})
    start = git(repo.root, "stash", "create")  # an untracked file is in no commit: the base must be a tree
    assert start == b""
    git(repo.root, "add", "-A")
    tree = git(repo.root, "write-tree").decode().strip()
    git(repo.root, "reset", "-q")
    os.unlink(path(repo, "mine"))
    reject(repo, base=tree)
    assert world(repo)[b"mine"] == file(b"x\n")
    assert git(repo.root, "status", "--porcelain") == b"?? mine\n"


def test_a_locked_index_is_no_obstacle(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    git(repo.root, "add", "-A")
    lock = Path(repo.git_dir, "index.lock")
    lock.write_bytes(b"")
    done = reject(repo)
    assert world(repo) == {b"a": file(N60)}
    assert [note.startswith("git's index was not updated") for note in done.notes] == [True]
    assert lock.exists()


def test_conflicts_of_a_merge_are_reviewed_and_left_as_conflicts(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"f": file(b"a\nb\nc\n")})
    git(repo.root, "checkout", "-q", "-b", "x")
    put(repo.root, {b"f": file(b"a\nX\nc\n")})
    git(repo.root, "commit", "-q", "-a", "-m", "x")
    git(repo.root, "checkout", "-q", "main")
    put(repo.root, {b"f": file(b"a\nM\nc\n")})
    git(repo.root, "commit", "-q", "-a", "-m", "m")
    git(repo.root, "merge", "-q", "x", codes=(1,))
    index = git(repo.root, "ls-files", "-s")
    done = reject(repo)
    assert (done.total, world(repo)) == (1, {b"f": file(b"a\nM\nc\n")})
    assert git(repo.root, "ls-files", "-s") == index
