from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from forge.core.review.baseline import resolve
from forge.core.review.finish import Ending, finish
from forge.core.review.listing import list_changes
from forge.core.review.model import Decision, File, Review, Unit
from forge.core.review.repository import Refused, find
from forge.core.review.snapshot import take
from forge.foundation.errors import ForgeError, UsageError
from review_world import ENV, World, facts, git, put
from unit.core.review.reviewing import apply, file, listing, numbered, path, reject, repository, world

N60 = numbered(60)
EDITED = numbered(60, l5=b"five", l40=b"forty")


def text(_: File, unit: Unit) -> bool:
    return unit.kind == "text"


def first_text(_: File, unit: Unit) -> bool:
    return unit.kind == "text" and unit.old_start < 10


CASES: dict[str, tuple[World, World]] = {
    "one of two hunks": ({b"a": file(N60)}, {b"a": file(EDITED)}),
    "added": ({}, {b"d/e/new": file(b"x\n", 0o755)}),
    "deleted": ({b"d/gone": file(b"x\n", 0o755), b"k": file(b"")}, {b"k": file(b"")}),
    "emptied": ({b"a": file(b"x\n")}, {b"a": file(b"")}),
    "filled": ({b"a": file(b"")}, {b"a": file(b"x\n")}),
    "no final newline": ({b"a": file(b"a\nb")}, {b"a": file(b"a\nB\n")}),
    "carriage returns": ({b"a": file(numbered(9, b"\r\n"))}, {b"a": file(numbered(9, b"\r\n", l5=b"x"))}),
    "only line ends": ({b"a": file(numbered(6, b"\r\n"))}, {b"a": file(numbered(6))}),
    "text that looks like a diff": (
        {
            b"a": file(
                b"-- sql\n++ inc\n@@ -1,2 +1,2 @@\ndiff --git a/x b/x\n\\ No newline at end of file\nk\n"
            )
        },
        {
            b"a": file(
                b"-- a/x\n++ b/x\n@@ -9,9 +9,9 @@\ndiff --git a/y b/y\n\\ No newline at end of file\nk\n"
            )
        },
    ),
    "odd separators": (
        {b"a": file("a\x0cb\u2028c\u0085d\x0be\x1cf\n2\n3\r4\n".encode())},
        {b"a": file("a\x0cb\u2028C\u0085d\x0be\x1cf\n2\n3\r5\n".encode())},
    ),
    "a line of 100 KB": ({b"a": file(b"x" * 100_000 + b"\n")}, {b"a": file(b"x" * 50_000 + b"Y\n")}),
    "fifty hunks": (
        {b"a": file(numbered(400))},
        {b"a": file(numbered(400, **{f"l{n}": b"changed %d" % n for n in range(4, 400, 8)}))},
    ),
    "equal blocks": (
        {b"a": file(b"def h():\n    x = 1\n\n" * 8)},
        {
            b"a": file(
                b"def h():\n    x = 1\n\n" * 3 + b"def h():\n    x = 2\n\n" + b"def h():\n    x = 1\n\n" * 4
            )
        },
    ),
    "two empty files": ({b"e1": file(b""), b"k": file(b"x\n")}, {b"e2": file(b""), b"k": file(b"x\n")}),
    "binary": ({b"b": file(b"\0one")}, {b"b": file(b"\0two")}),
    "link": ({b"l": ("link", b"one")}, {b"l": ("link", b"two")}),
    "file to link": ({b"x": file(b"text\n")}, {b"x": ("link", b"y")}),
    "link to file": ({b"x": ("link", b"y")}, {b"x": file(b"text\n")}),
    "directory to file": ({b"d/x": file(b"1\n"), b"d/y": file(b"2\n")}, {b"d": file(b"now a file\n")}),
    "file to directory": ({b"d": file(b"a file\n")}, {b"d/x": file(b"1\n")}),
    "renamed": ({b"old": file(N60)}, {b"d/new": file(N60)}),
    "only the case of a name": ({b"name": file(N60)}, {b"NAME": file(N60)}),
    "mode": ({b"a": file(b"x\n")}, {b"a": file(b"x\n", 0o755)}),
    "newline in a name": ({b"new\nline": file(b"1\n")}, {b"new\nline": file(b"2\n")}),
    "name that is not text": ({b"\xff\xfe": file(b"1\n")}, {b"\xff\xfe": file(b"\xb0\xa1\n")}),
}


@pytest.mark.requirement("S3-05", "S3-18")
@pytest.mark.parametrize("name", CASES)
def test_what_is_rejected_comes_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    old, new = CASES[name]
    repo = repository(tmp_path, old, new)
    before = facts(repo.root)
    done = reject(repo)
    assert (world(repo), facts(repo.root)) == (old, before)
    assert (done.exit_code, done.rejected, done.total) == (2, done.total, done.total)


@pytest.mark.requirement("S3-18")
def test_accepted_hunks_of_the_same_file_stay(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    done = reject(repo, first_text)
    assert world(repo) == {b"a": file(numbered(60, l40=b"forty"))}
    assert (done.rejected, done.total) == (1, 2)


@pytest.mark.requirement("S3-04")
def test_nothing_changes_when_all_is_accepted(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    done = apply(repo, listing(repo), [])
    assert (done.exit_code, done.feedback, done.backup) == (0, "", "")
    assert world(repo) == {b"a": file(EDITED)}
    assert not os.path.exists(path(repo, ".diffy"))


@pytest.mark.requirement("S3-21")
def test_without_apply_nothing_is_written(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    found = listing(repo)
    done = finish(repo, found, Review(found.snapshot, "reject"), Ending(apply=False))
    assert (done.exit_code, done.applied) == (2, False)
    assert "nothing was reverted" in done.feedback
    assert world(repo) == {b"a": file(EDITED)}


def test_a_move_and_an_edit_are_decided_separately(tmp_path: Path) -> None:
    old: World = {b"old": file(N60)}
    new: World = {b"new": file(EDITED, 0o755)}
    repo = repository(tmp_path, old, new)
    reject(repo, text)
    assert world(repo) == {b"new": file(N60, 0o755)}
    put(repo.root, new)
    reject(repo, lambda _, unit: unit.kind == "rename")
    assert world(repo) == {b"old": file(EDITED, 0o755)}
    put(repo.root, new)
    reject(repo, lambda _, unit: unit.kind == "mode")
    assert world(repo) == {b"new": file(EDITED)}


def test_other_permission_bits_stay(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60, 0o640)}, {b"a": file(EDITED, 0o750)})
    reject(repo, text)
    assert world(repo) == {b"a": file(N60, 0o750)}
    reject(repo)
    assert world(repo) == {b"a": file(N60, 0o640)}


def test_other_names_of_a_file_see_the_change(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    other = str(tmp_path / "other")
    os.link(path(repo, "a"), other)
    reject(repo)
    assert Path(other).read_bytes() == N60
    assert os.stat(other).st_nlink == 2


@pytest.mark.parametrize(
    ("attributes", "raw_old", "raw_new"),
    [
        (b"* text eol=crlf\n", numbered(60, b"\r\n"), numbered(60, b"\r\n", l5=b"five", l40=b"forty")),
        (b"* text=auto\n", N60, EDITED),
        (b"* ident\n", b"$Id$\n" + N60, b"$Id$\n" + EDITED),
        (
            b"a working-tree-encoding=UTF-16LE\n",
            N60.decode().encode("utf-16-le"),
            EDITED.decode().encode("utf-16-le"),
        ),
    ],
    ids=["crlf", "auto", "ident", "utf-16"],
)
def test_converted_files_come_back_as_a_checkout_writes_them(
    attributes: bytes, raw_old: bytes, raw_new: bytes, tmp_path: Path
) -> None:
    repo = repository(tmp_path, {b".gitattributes": file(attributes), b"a": file(raw_old)})
    os.unlink(path(repo, "a"))
    git(repo.root, "checkout", "-q", "--force", "HEAD", "--", ".")
    start = world(repo)
    put(repo.root, {**start, b"a": file(raw_new)})
    reject(repo)
    assert world(repo) == start


@pytest.mark.parametrize("setting", ["core.autocrlf", "core.eol"])
def test_files_that_were_never_checked_out_come_back_as_they_were(setting: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60), b"gone": file(N60)}, {b"a": file(EDITED)})
    git(repo.root, "config", setting, "true" if setting == "core.autocrlf" else "crlf")
    reject(repo)
    assert world(repo) == {b"a": file(N60), b"gone": file(N60)}


@pytest.mark.parametrize("staged", [False, True])
def test_lines_that_no_setting_explains_keep_their_ends(staged: bool, tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"k": file(b"")})
    git(repo.root, "config", "core.autocrlf", "input")
    old = numbered(60, b"\r\n").replace(b"line 50\r\n", b"line 50\n")
    put(repo.root, {b"a": file(old)})
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "x")
    put(repo.root, {b"a": file(old.replace(b"line 5\r\n", b"five\n"))})
    if staged:
        git(repo.root, "add", "-A")
    reject(repo)
    assert world(repo) == {b"a": file(old)}


def test_one_hunk_of_a_converted_file_is_spliced_into_the_lines_on_disk(tmp_path: Path) -> None:
    attributes = {b".gitattributes": file(b"* text eol=crlf\n")}
    repo = repository(tmp_path, {**attributes, b"a": file(numbered(60, b"\r\n"))})
    put(repo.root, {**attributes, b"a": file(numbered(60, b"\r\n", l5=b"five", l40=b"forty"))})
    reject(repo, first_text)
    assert world(repo)[b"a"] == file(numbered(60, b"\r\n", l40=b"forty"))


def test_a_file_behind_another_filter_is_one_decision(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b".gitattributes": file(b"a filter=one\n"), b"a": file(b"x\n")})
    git(repo.root, "config", "filter.one.clean", "sed -n 1p")
    git(repo.root, "config", "filter.one.smudge", "sed p")
    os.unlink(path(repo, "a"))
    git(repo.root, "checkout", "-q", "--", "a")
    put(repo.root, {**world(repo), b"a": file(b"y\ny\n")})
    found = listing(repo)
    assert [(f.path, bool(f.whole), [u.kind for u in f.hunks]) for f in found.files] == [
        ("a", True, ["content"])
    ]
    reject(repo)
    assert world(repo)[b"a"] == file(b"x\nx\n")


@pytest.mark.parametrize("changed", [b"by the user\n" + EDITED, EDITED.replace(b"line 9", b"LINE 9"), b""])
def test_a_file_that_changed_since_is_refused_and_nothing_is_touched(changed: bytes, tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60), b"b": file(N60)}, {b"a": file(EDITED), b"b": file(EDITED)})
    found = listing(repo)
    put(repo.root, {b"a": file(EDITED), b"b": file(changed)})
    with pytest.raises(Refused):
        apply(repo, found, [unit.id for f in found.files for unit in f.hunks])
    assert world(repo) == {b"a": file(EDITED), b"b": file(changed)}


@pytest.mark.parametrize("kind", ["deleted", "executable", "link", "directory"])
def test_a_path_that_became_something_else_is_refused(kind: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    found = listing(repo)
    other: dict[str, World] = {
        "deleted": {},
        "executable": {b"a": file(EDITED, 0o755)},
        "link": {b"a": ("link", b"b"), b"b": file(EDITED)},
        "directory": {b"a/x": file(EDITED)},
    }
    put(repo.root, other[kind])
    with pytest.raises(Refused):
        apply(repo, found, [unit.id for f in found.files for unit in f.hunks])
    assert world(repo) == other[kind]


def test_changes_to_other_files_do_not_matter(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    found = listing(repo)
    put(repo.root, {b"a": file(EDITED), b"b": file(b"new\n")})
    apply(repo, found, [unit.id for f in found.files for unit in f.hunks])
    assert world(repo) == {b"a": file(N60), b"b": file(b"new\n")}


def test_decisions_that_exclude_each_other_are_refused(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"d/x": file(b"1\n")}, {b"d": file(b"now a file\n")})
    with pytest.raises(Refused, match="d/x cannot be changed while d is no directory"):
        reject(repo, lambda f, _: f.path == "d/x")
    assert world(repo) == {b"d": file(b"now a file\n")}


def test_a_directory_with_ignored_files_does_not_give_way(tmp_path: Path) -> None:
    old: World = {b".gitignore": file(b"*.o\n"), b"d": file(b"a file\n")}
    new: World = {b".gitignore": file(b"*.o\n"), b"d/x": file(b"1\n"), b"d/keep.o": file(b"\0")}
    repo = repository(tmp_path, old, new)
    with pytest.raises(Refused, match="holds d/keep"):
        reject(repo)
    assert world(repo) == new


def test_an_ignored_file_is_never_overwritten(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"tracked\n")})
    git(repo.root, "rm", "-q", "--cached", "a")
    new: World = {b".gitignore": file(b"a\n"), b"a": file(b"ignored now\n")}
    put(repo.root, new)
    with pytest.raises(Refused, match="another file is in its place"):
        reject(repo, lambda f, _: f.path == "a")
    assert world(repo) == new


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"mine\n")
    repo = repository(tmp_path, {b"d/x": file(b"1\n")}, {b"d": ("link", os.fsencode(outside))})
    with pytest.raises(Refused):
        reject(repo, lambda f, _: f.path == "d/x")
    reject(repo)
    assert world(repo) == {b"d/x": file(b"1\n")}
    assert (outside / "x").read_bytes() == b"mine\n"


@pytest.mark.parametrize(
    ("decisions", "error"),
    [
        ([Decision("nothing", "reject")], Refused),
        ([Decision("HUNK", "perhaps")], UsageError),
        ([Decision("HUNK", "reject"), Decision("HUNK", "accept")], UsageError),
        ([Decision("HUNK", "reject", lines=(99,))], UsageError),
        ([Decision("HUNK", "reject", lines=(-1,))], UsageError),
        ([Decision("HUNK", "reject", lines=(3,)), Decision("HUNK", "accept", lines=(3,))], UsageError),
        ([Decision("MODE", "reject", lines=(0,))], UsageError),
        ([Decision("MODE", "accept", edit="x")], UsageError),
    ],
)
def test_decisions_that_fit_nothing_are_refused(
    decisions: list[Decision], error: type[ForgeError], tmp_path: Path
) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED, 0o755)})
    found = listing(repo)
    mode, hunk, _ = found.files[0].hunks
    names = {"HUNK": hunk.id, "MODE": mode.id}
    given = [
        Decision(names.get(one.hunk, one.hunk), one.verdict, lines=one.lines, edit=one.edit)
        for one in decisions
    ]
    with pytest.raises(error):
        finish(repo, found, Review(found.snapshot, "accept", tuple(given)), Ending(apply=True))
    assert world(repo) == {b"a": file(EDITED, 0o755)}


def test_single_lines_can_be_rejected(tmp_path: Path) -> None:
    new = numbered(9, l4=b"four", l5=b"five")
    repo = repository(tmp_path, {b"a": file(numbered(9))}, {b"a": file(new)})
    found = listing(repo)
    (unit,) = found.files[0].hunks
    wanted = tuple(at for at, line in enumerate(unit.lines) if line in (b"-line 4\n", b"+four\n"))
    for verdict, expected in (("reject", numbered(9, l5=b"five")), ("accept", numbered(9, l4=b"four"))):
        put(repo.root, {b"a": file(new)})
        decision = Decision(unit.id, verdict, lines=wanted)
        done = finish(repo, found, Review(found.snapshot, decisions=(decision,)), Ending(apply=True))
        assert (world(repo), done.exit_code) == ({b"a": file(expected)}, 2)


def test_lines_of_an_added_file_can_be_rejected_down_to_none(tmp_path: Path) -> None:
    repo = repository(tmp_path, {}, {b"a": file(b"1\n2\n")})
    found = listing(repo)
    (unit,) = found.files[0].hunks
    for lines, expected in (((0,), {b"a": file(b"2\n")}), ((0, 1), {})):
        put(repo.root, {b"a": file(b"1\n2\n")})
        decision = Decision(unit.id, "reject", lines=lines)
        finish(repo, found, Review(found.snapshot, decisions=(decision,)), Ending(apply=True))
        assert world(repo) == expected


def test_an_edit_becomes_the_content_and_the_model_sees_it(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n2\n3\n")}, {b"a": file(b"1\ntwo\n3\n")})
    found = listing(repo)
    decision = Decision(found.files[0].hunks[0].id, "accept", edit="1\nzwei\n3\n")
    done = finish(repo, found, Review(found.snapshot, decisions=(decision,)), Ending(apply=True))
    assert world(repo) == {b"a": file(b"1\nzwei\n3\n")}
    assert (done.exit_code, "- a (lines 1-3): edited by the user" in done.feedback) == (0, True)
    assert "  -two\n  +zwei\n" in done.feedback


def test_what_is_pending_stays_and_is_shown_again(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60), b"b": file(N60)}, {b"a": file(EDITED), b"b": file(EDITED)})
    found = listing(repo)
    accepted, rejected, pending, _ = [unit.id for f in found.files for unit in f.hunks]
    decisions = (Decision(accepted), Decision(rejected, "reject"), Decision(pending, "pending"))
    review = Review(found.snapshot, "accept", decisions)
    done = finish(repo, found, review, Ending(apply=True, remember=True))
    again = list_changes(repo, resolve(repo, "reviewed"), take(repo).tree)
    assert (done.rejected, [unit.id for f in again.files for unit in f.hunks]) == (1, [pending])


def test_agents_commits_are_not_rewritten(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    git(repo.root, "commit", "-q", "-a", "-m", "by the agent")
    head = git(repo.root, "rev-parse", "HEAD")
    reject(repo, base="HEAD~1")
    assert world(repo) == {b"a": file(N60)}
    assert git(repo.root, "rev-parse", "HEAD") == head
    assert git(repo.root, "status", "--porcelain") != b""


def test_a_moved_submodule_is_shown_but_never_written(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", {b"f": file(b"1\n")})
    repo = repository(tmp_path, {b"a": file(b"x\n")})
    git(repo.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "mod")
    git(repo.root, "commit", "-q", "-m", "with a submodule")
    git(path(repo, "mod"), "commit", "-q", "--allow-empty", "-m", "moved")
    moved = git(path(repo, "mod"), "rev-parse", "HEAD")
    done = reject(repo)
    assert "- mod (submodule): rejected (submodule: not reverted)" in done.feedback
    assert (done.rejected, git(path(repo, "mod"), "rev-parse", "HEAD")) == (1, moved)
    assert find(path(repo, "mod"), ENV).root == path(repo, "mod")


def test_a_write_that_fails_puts_everything_back(tmp_path: Path) -> None:
    names = [b"d%d/a" % n for n in range(5)]
    new: World = {name: file(EDITED) for name in names}
    repo = repository(tmp_path, {name: file(N60) for name in names}, new)
    found = listing(repo)
    # The name of the third file that waits beside its place is taken, so that it cannot be made.
    os.mkdir(path(repo, "d2/.diffy-1-2"))
    with pytest.raises(ForgeError, match="nothing was changed"):
        apply(repo, found, [unit.id for f in found.files for unit in f.hunks])
    os.rmdir(path(repo, "d2/.diffy-1-2"))
    assert world(repo) == new
    assert not os.listdir(os.path.join(repo.state, "backups"))
    apply(repo, found, [unit.id for f in found.files for unit in f.hunks])
    assert world(repo) == {name: file(N60) for name in names}


def test_a_backup_that_cannot_be_made_stops_everything(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(EDITED)})
    found = listing(repo)
    Path(repo.state, "backups").write_text("in the way")
    with pytest.raises(ForgeError, match="backups"):
        apply(repo, found, [unit.id for f in found.files for unit in f.hunks])
    assert world(repo) == {b"a": file(EDITED)}


def test_new_files_get_the_usual_permissions(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"x\n", 0o755), b"b": file(b"y\n", 0o600)}, {})
    reject(repo)
    bits = [stat.S_IMODE(os.stat(path(repo, name)).st_mode) for name in ("a", "b")]
    assert bits == [0o755, 0o644]
