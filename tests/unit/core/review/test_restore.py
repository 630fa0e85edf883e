from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.review import backup as backups
from forge.core.review import disk
from forge.core.review.choose import choose
from forge.core.review.model import Review
from forge.core.review.plan import make_plan
from forge.core.review.repository import Refused, Repository
from forge.core.review.restore import recover, restore
from forge.foundation.errors import ForgeError
from review_world import World, directories, facts, git, put
from unit.core.review.reviewing import file, listing, numbered, path, reject, repository, world

N60 = numbered(60)
EDITED = numbered(60, l5=b"five", l40=b"forty")
OLD: World = {
    b"a": file(N60, 0o640),
    b"gone": file(b"x\n"),
    b"moved": file(numbered(30, b"\r\n")),
    b"link": ("link", b"one"),
    b"d/x": file(b"1\n"),
}
NEW: World = {
    b"a": file(EDITED, 0o750),
    b"new/dir/b": file(b"\0\xff", 0o700),
    b"elsewhere": file(numbered(30, b"\r\n")),
    b"link": ("link", b"two"),
    b"d": file(b"now a file\n"),
}


def refs(repo: Repository) -> list[str]:
    return Path(repo.root, ".diffy", "backup-refs").read_text().split()


@pytest.mark.requirement("S3-19")
@pytest.mark.parametrize("staged", [False, True])
def test_a_review_can_be_undone_completely(staged: bool, tmp_path: Path) -> None:
    repo = repository(tmp_path, OLD, NEW)
    if staged:
        git(repo.root, "add", "-A")
    os.chmod(path(repo, "new"), 0o711)
    before = facts(repo.root)
    reject(repo)
    git(repo.root, "gc", "-q", "--prune=now")
    git(repo.root, "status")
    assert world(repo) != NEW
    restore(repo)
    assert (world(repo), facts(repo.root)) == (NEW, before)
    assert os.stat(path(repo, "new")).st_mode & 0o777 == 0o711
    assert refs(repo) == []


def test_restore_works_although_accepted_changes_remain(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    reject(repo, lambda _, unit: unit.old_start < 10)
    restore(repo)
    assert world(repo) == {b"a": file(EDITED)}


@pytest.mark.requirement("S3-19")
def test_repeated_restores_walk_back(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    reject(repo, lambda _, unit: unit.old_start < 10)
    middle = world(repo)
    reject(repo)
    assert refs(repo) == ["1", "2"]
    restore(repo)
    assert world(repo) == middle
    restore(repo)
    assert world(repo) == {b"a": file(EDITED)}
    with pytest.raises(ForgeError, match="nothing to restore"):
        restore(repo)


def test_a_named_backup_can_be_restored_if_its_paths_are_as_it_left_them(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60), b"b": file(N60)}, {b"a": file(EDITED), b"b": file(EDITED)})
    reject(repo, lambda f, _: f.path == "a")
    reject(repo, lambda f, _: f.path == "b")
    restore(repo, "1")
    assert world(repo) == {b"a": file(EDITED), b"b": file(N60)}
    assert refs(repo) == ["2"]
    with pytest.raises(ForgeError, match="no backup '1'"):
        restore(repo, "1")


def test_manual_edits_since_are_only_overwritten_by_force(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60), b"b": file(N60)}, {b"a": file(EDITED), b"b": file(EDITED)})
    reject(repo)
    put(repo.root, {b"a": file(N60), b"b": file(b"mine\n")})
    with pytest.raises(Refused, match="changed since the review: b"):
        restore(repo)
    assert world(repo) == {b"a": file(N60), b"b": file(b"mine\n")}
    restore(repo, force=True)
    assert world(repo) == {b"a": file(EDITED), b"b": file(EDITED)}


@pytest.mark.requirement("S3-17", "S3-20")
def test_ten_backups_are_kept(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"0\n")})
    for number in range(12):
        put(repo.root, {b"a": file(b"%d\n" % (number + 1))})
        reject(repo)
    assert refs(repo) == [str(number) for number in range(3, 13)]
    assert sorted(os.listdir(os.path.join(repo.state, "backups")), key=int) == refs(repo)


@pytest.mark.requirement("S3-22")
def test_nothing_of_diffy_shows_up_in_git(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"0\n")}, {b"a": file(b"1\n")})
    reject(repo)
    assert git(repo.root, "status", "--porcelain", "-uall") == b""
    assert git(repo.root, "count-objects", "-v").startswith(b"count: 3\n")
    assert listing(repo).files == ()


def test_a_list_that_points_elsewhere_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    repo = repository(tmp_path, {b"a": file(b"0\n")}, {b"a": file(b"1\n")})
    os.symlink(tmp_path / "outside", path(repo, ".diffy"))
    reject(repo, lambda f, _: f.path == "a")
    restore(repo)
    assert (list((tmp_path / "outside").iterdir()), world(repo)[b"a"]) == ([], file(b"1\n"))


@pytest.mark.parametrize("steps", [0, 1, 3, 99])
def test_a_review_that_was_cut_off_is_taken_back(steps: int, tmp_path: Path) -> None:
    repo = repository(tmp_path, OLD, NEW)
    found = listing(repo)
    folders = directories(repo.root)
    plan = make_plan(repo, found, choose(found, Review(default="reject")))
    saved = backups.save(repo, plan.steps, 0.0)
    ordered = sorted(plan.steps, key=lambda one: one.after.kind != disk.ABSENT)
    for at, step in list(enumerate(plan.steps))[:2]:
        if step.after.kind != disk.ABSENT:
            disk.prepare(repo.root, step.path, step.after, f".diffy-{saved.id}-{at}")
    for number, step in enumerate(ordered[:steps]):
        if step.after.kind == disk.ABSENT:
            disk.remove(repo.root, step.path)
        else:
            ready = disk.prepare(repo.root, step.path, step.after, f"ready{number}")
            disk.place(repo.root, step.path, step.after, ready, in_place=False)
    recover(repo)
    assert (world(repo), directories(repo.root)) == (NEW, folders)
    assert backups.list_backups(repo) == []


def test_an_index_that_changed_since_is_left_alone(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"0\n")}, {b"a": file(b"1\n")})
    git(repo.root, "add", "-A")
    reject(repo)
    put(repo.root, {b"a": file(b"0\n"), b"b": file(b"mine\n")})
    git(repo.root, "add", "b")
    index = git(repo.root, "ls-files", "-s")
    done = restore(repo)
    assert done.notes == ("git's index was left alone, because it has changed since",)
    assert (world(repo)[b"a"], git(repo.root, "ls-files", "-s")) == (file(b"1\n"), index)
