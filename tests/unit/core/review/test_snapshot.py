from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.review.baseline import Baselines, default, empty_tree, latest, mark, read, resolve
from forge.core.review.repository import NoRepository, find
from forge.core.review.snapshot import index_tree, take
from forge.foundation.errors import UsageError
from review_world import ENV, World, facts, git, new_repository, put
from unit.core.review.reviewing import apply, file, kinds, listing, path, reject, repository, world


def test_a_snapshot_has_everything_but_ignored_files_and_touches_nothing(tmp_path: Path) -> None:
    old: World = {b".gitignore": file(b"*.o\n"), b"a": file(b"1\n"), b"gone": file(b"x\n")}
    new: World = {
        b".gitignore": file(b"*.o\n"),
        b"a": file(b"2\n"),
        b"d/new": file(b"y\n"),
        b"x.o": file(b"\0"),
        b".diffy/state": file(b"z\n"),
        b"sub/.diffy/other": file(b"z\n"),
    }
    repo = repository(tmp_path, old, new)
    before = facts(repo.root), os.stat(path(repo, ".git/index")).st_mtime_ns
    assert kinds(listing(repo)) == {
        "a": ["M", "text"],
        "d/new": ["A", "text"],
        "gone": ["D", "text"],
        "sub/.diffy/other": ["A", "text"],
    }
    assert before == (facts(repo.root), os.stat(path(repo, ".git/index")).st_mtime_ns)
    assert [name for name in os.listdir(repo.state) if name.startswith("index")] == []


def test_an_edit_of_the_same_size_in_the_second_of_the_commit_is_seen(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")})
    index = os.stat(path(repo, ".git/index")).st_mtime_ns
    Path(repo.root, "a").write_bytes(b"2\n")
    os.utime(path(repo, "a"), ns=(index, index))
    os.utime(path(repo, ".git/index"), ns=(index, index))
    assert kinds(listing(repo)) == {"a": ["M", "text"]}


def test_large_untracked_files_are_named_but_not_captured(tmp_path: Path) -> None:
    repo = repository(tmp_path, {}, {b"big": file(b"x" * 2000), b"small": file(b"x")})
    now = take(repo, limit=1000)
    assert now.large == ("big",)
    assert git(repo.root, "--git-dir", repo.git_dir, "status", "--porcelain") == b"?? big\n?? small\n"


def test_files_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"2\n"), b"b": file(b"3\n")})
    os.mkfifo(path(repo, "pipe"))
    os.mkdir(path(repo, "nested"))
    git(path(repo, "nested"), "init", "-q")
    assert kinds(listing(repo)) == {"a": ["M", "text"], "b": ["A", "text"]}


def test_an_embedded_repository_is_one_unit(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")})
    new_repository(path(repo, "nested"), {b"inside": file(b"x\n")})
    assert kinds(listing(repo)) == {"nested": ["A", "file"]}
    done = reject(repo)
    assert (done.rejected, sorted(world(repo))[0:1]) == (1, [b"a"])
    assert Path(repo.root, "nested", "inside").exists()


def test_files_behind_an_ignored_link_are_gone(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"d/x": file(b"1\n"), b".gitignore": file(b"/d\n")})
    put(repo.root, {b"e/x": file(b"1\n"), b".gitignore": file(b"/d\n"), b"d": ("link", b"e")})
    assert kinds(listing(repo)) == {"e/x": ["R", "rename"]}


def test_hidden_and_sparse_entries_do_not_look_deleted(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a/x": file(b"1\n"), b"b/y": file(b"2\n"), b"c": file(b"3\n")})
    git(repo.root, "sparse-checkout", "set", "a")
    git(repo.root, "update-index", "--assume-unchanged", "a/x")
    put(repo.root, {b"a/x": file(b"1\n"), b"c": file(b"three\n")})
    assert kinds(listing(repo)) == {"c": ["M", "text"]}


def test_staged_changes_can_be_seen_alone(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"2\n"), b"b": file(b"new\n")})
    git(repo.root, "add", "a")
    assert index_tree(repo) == git(repo.root, "write-tree").decode().strip()


def test_a_repository_without_commits_is_compared_with_nothing(tmp_path: Path) -> None:
    root = str(tmp_path / "repo")
    new_repository(root, {b"a": file(b"1\n")}, commit=False)
    repo = find(root, ENV)
    assert kinds(listing(repo)) == {"a": ["A", "text"]}
    reject(repo)
    assert world(repo) == {}


def test_a_repository_with_longer_ids_works_the_same(tmp_path: Path) -> None:
    root = str(tmp_path)
    git(root, "init", "-q", "--object-format=sha256")
    put(root, {b"a": file(b"1\n")})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    put(root, {b"a": file(b"2\n")})
    repo = find(root, ENV)
    assert len(empty_tree(repo)) == 64
    reject(repo)
    assert world(repo) == {b"a": file(b"1\n")}


def test_any_directory_of_the_work_tree_leads_to_its_root(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"d/e/x": file(b"1\n"), b"a": file(b"1\n")})
    put(repo.root, {b"d/e/x": file(b"2\n"), b"a": file(b"2\n")})
    below = find(path(repo, "d/e"), ENV)
    assert below == repo
    reject(below)
    assert world(repo) == {b"d/e/x": file(b"1\n"), b"a": file(b"1\n")}


@pytest.mark.parametrize("name", ["with space", "a:b", 'q"uote', "back\\slash", "한글"])
def test_the_name_of_the_root_does_not_matter(name: str, tmp_path: Path) -> None:
    repo = repository(tmp_path / name, {b"a": file(b"1\n")}, {b"a": file(b"2\n")})
    reject(repo)
    assert world(repo) == {b"a": file(b"1\n")}


def test_a_split_index_is_read_whole(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n"), b"b": file(b"1\n")})
    git(repo.root, "update-index", "--split-index")
    put(repo.root, {b"a": file(b"2\n"), b"b": file(b"1\n")})
    git(repo.root, "add", "a")
    reject(repo)
    assert (world(repo)[b"a"], git(repo.root, "status", "--porcelain")) == (file(b"1\n"), b"")


def test_a_linked_work_tree_has_its_own_state(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")})
    git(repo.root, "worktree", "add", "-q", str(tmp_path / "other"))
    other = find(str(tmp_path / "other"), ENV)
    put(other.root, {b"a": file(b"2\n")})
    assert other.state != repo.state
    found = listing(other)
    apply(other, found, [unit.id for f in found.files for unit in f.hunks])
    assert Path(other.root, "a").read_bytes() == b"1\n"


@pytest.mark.parametrize("kind", ["nothing", "bare", "inside"])
def test_places_without_a_work_tree_are_told_apart(kind: str, tmp_path: Path) -> None:
    where = str(tmp_path)
    if kind == "bare":
        git(where, "init", "-q", "--bare")
    if kind == "inside":
        git(where, "init", "-q")
        where = str(tmp_path / ".git")
    reason = "not in a git repository" if kind == "nothing" else "no work tree here"
    with pytest.raises(NoRepository, match=reason):
        find(where, ENV)


def test_without_git_there_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NoRepository, match="git cannot be started"):
        find(str(tmp_path), ENV | {"PATH": str(tmp_path)})


def test_variables_that_point_git_elsewhere_do_not_count(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")})
    elsewhere = {"GIT_DIR": "/x", "GIT_INDEX_FILE": "/x", "GIT_WORK_TREE": "/x", "GIT_PREFIX": "x"}
    assert find(repo.root, ENV | elsewhere) == repo


def test_baselines_are_kept_per_session(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")})
    tree, head = take(repo).tree, resolve(repo, "HEAD")
    assert (default(repo), latest(repo)) == (("HEAD", head), "")
    mark(repo, "one", 1.0, session=tree, turn=tree)
    mark(repo, "two", 2.0, turn=empty_tree(repo))
    mark(repo, "one", 1.5, reviewed=empty_tree(repo))
    assert read(repo, "one") == Baselines(tree, tree, empty_tree(repo), 1.5)
    assert (latest(repo), read(repo)) == ("two", Baselines(turn=empty_tree(repo), time=2.0))
    assert default(repo, "one") == ("reviewed", empty_tree(repo))
    assert default(repo, "two") == ("turn", empty_tree(repo))
    assert default(repo, "three") == ("HEAD", head)
    assert resolve(repo, "session", "one") == tree


def test_baselines_that_are_gone_or_damaged_do_not_stop_a_review(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")})
    mark(repo, "one", 1.0, session="1" * 40)
    assert default(repo, "one")[0] == "HEAD"
    Path(repo.state, "baselines.json").write_text("{broken")
    assert default(repo, "one")[0] == "HEAD"


@pytest.mark.parametrize("rev", ["nonsense", "--help", "HEAD~5", "turn", ""])
def test_a_base_that_does_not_exist_is_a_mistake(rev: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a commit nor a known state"):
        resolve(repository(tmp_path, {}), rev)


def test_a_detached_head_is_like_any_other(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"2\n")})
    git(repo.root, "checkout", "-q", "--detach")
    reject(repo)
    assert world(repo) == {b"a": file(b"1\n")}
