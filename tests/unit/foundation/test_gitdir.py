from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from forge.foundation.gitdir import common_dir, find_root, is_tracked, main_root


def git(directory: Path, *args: str) -> None:
    identity = ["-c", "user.email=a@example.com", "-c", "user.name=n"]
    subprocess.run(["git", *identity, *args], cwd=directory, check=True, capture_output=True)


def repository(directory: Path) -> Path:
    directory.mkdir(parents=True)
    git(directory, "init", "-q", ".")
    git(directory, "commit", "-q", "--allow-empty", "-m", "first")
    return directory


def test_root_is_found_upwards(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    below = repo / "a" / "b"
    below.mkdir(parents=True)
    assert (find_root(str(below)), find_root(str(repo))) == (str(repo), str(repo))


def test_outside_git_there_is_no_root() -> None:
    assert find_root("/") == ""


def test_linked_worktree_belongs_to_the_main_checkout(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    tree = str(tmp_path / "tree")
    assert (find_root(tree), main_root(tree)) == (tree, str(repo))
    assert common_dir(tree) == common_dir(str(repo)) == str(repo / ".git")


def test_directory_that_only_claims_to_be_a_worktree_stands_alone(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / ".git").write_text((tmp_path / "tree" / ".git").read_text())
    assert main_root(str(fake)) == str(fake)


def test_submodule_stands_alone(tmp_path: Path) -> None:
    repo, other = repository(tmp_path / "repo"), repository(tmp_path / "other")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "part")
    assert main_root(str(repo / "part")) == str(repo / "part")


@pytest.mark.parametrize("version", ["2", "3"])
def test_tracked_files_are_known(tmp_path: Path, version: str) -> None:
    repo = repository(tmp_path / "repo")
    for name in ("a/.claude/x.json", ".claude/y.json", "b.txt", "deleted"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("x")
    git(repo, "add", "a", "b.txt", "deleted")
    git(repo, "update-index", "--index-version", version)
    if version == "3":
        git(repo, "update-index", "--skip-worktree", "b.txt", "a/.claude/x.json")
    names = [
        "a/.claude/x.json",
        "A/.CLAUDE/x.json",
        ".claude/x.json",
        ".claude/y.json",
        "b.txt",
        "b",
        "deleted",
    ]
    tracked = [name for name in names if is_tracked(str(repo), str(repo / name))]
    assert tracked == ["a/.claude/x.json", "A/.CLAUDE/x.json", "b.txt", "deleted"]


def test_index_that_cannot_be_read_counts_as_listing_the_file(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "a").write_text("x")
    git(repo, "add", "a")
    git(repo, "update-index", "--index-version", "4")
    assert is_tracked(str(repo), str(repo / "not-there"))


def test_new_repository_tracks_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", ".")
    assert not is_tracked(str(tmp_path), str(tmp_path / "a"))
