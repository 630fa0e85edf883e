from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.review.listing import list_changes, relist
from forge.core.review.model import blocks
from forge.core.review.repository import Refused, find
from forge.core.review.snapshot import take
from review_world import ENV, World, git, put
from unit.core.review.reviewing import file, kinds, listing, numbered, repository

N60 = numbered(60)
KINDS: dict[str, tuple[World, World, dict[str, list[str]]]] = {
    "two_hunks": (
        {b"a": file(N60)},
        {b"a": file(numbered(60, l5=b"five", l40=b"forty"))},
        {"a": ["M", "text", "text"]},
    ),
    "new_file": ({}, {b"dir/new.py": file(b"print(1)\n")}, {"dir/new.py": ["A", "text"]}),
    "new_empty": ({}, {b"empty": file(b"")}, {"empty": ["A", "file"]}),
    "new_binary": ({}, {b"b": file(b"\0\1")}, {"b": ["A", "file"]}),
    "new_link": ({}, {b"l": ("link", b"target")}, {"l": ["A", "file"]}),
    "deleted": ({b"gone": file(b"a\nb\n")}, {}, {"gone": ["D", "text"]}),
    "deleted_empty": ({b"empty": file(b"")}, {}, {"empty": ["D", "file"]}),
    "truncated": ({b"a": file(b"a\nb\n")}, {b"a": file(b"")}, {"a": ["M", "text"]}),
    "filled": ({b"a": file(b"")}, {b"a": file(b"a\nb\n")}, {"a": ["M", "text"]}),
    "mode": ({b"a": file(b"x\n")}, {b"a": file(b"x\n", 0o755)}, {"a": ["M", "mode"]}),
    "mode_and_text": (
        {b"a": file(numbered(9), 0o755)},
        {b"a": file(numbered(9, l5=b"five"))},
        {"a": ["M", "mode", "text"]},
    ),
    "rename": ({b"old": file(N60)}, {b"new": file(N60)}, {"new": ["R", "rename"]}),
    "rename_edit_mode": (
        {b"old": file(N60)},
        {b"new": file(numbered(60, l7=b"seven"), 0o755)},
        {"new": ["R", "rename", "mode", "text"]},
    ),
    "rename_binary": (
        {b"old": file(b"\0" + N60)},
        {b"new": file(b"\0" + N60 + b"more\n")},
        {"new": ["R", "rename", "content"]},
    ),
    "link_moved": ({b"l": ("link", b"one")}, {b"l": ("link", b"two")}, {"l": ["M", "file"]}),
    "file_to_link": ({b"x": file(b"text\n")}, {b"x": ("link", b"y")}, {"x": ["T", "file"]}),
    "binary": ({b"b": file(b"\0one")}, {b"b": file(b"\0two")}, {"b": ["M", "content"]}),
    "utf16": (
        {b"a": file("hi\n".encode("utf-16"))},
        {b"a": file("ho\n".encode("utf-16"))},
        {"a": ["M", "content"]},
    ),
    "directory_to_file": (
        {b"d/x": file(b"1\n")},
        {b"d": file(b"now a file\n")},
        {"d": ["A", "text"], "d/x": ["D", "text"]},
    ),
    "marked_as_no_text": (
        {b".gitattributes": file(b"*.lock -diff\n"), b"x.lock": file(b"a\n")},
        {b".gitattributes": file(b"*.lock -diff\n"), b"x.lock": file(b"b\n")},
        {"x.lock": ["M", "text"]},
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_change_has_its_units(name: str, tmp_path: Path) -> None:
    old, new, expected = KINDS[name]
    assert kinds(listing(repository(tmp_path, old, new))) == expected


def test_a_hunk_has_gits_line_numbers_and_raw_lines(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\r\n2\n3")}, {b"a": file(b"1\r\nzwei\n3")})
    unit = listing(repo).files[0].hunks[0]
    assert (unit.old_start, unit.old_count, unit.new_start, unit.new_count) == (1, 3, 1, 3)
    assert unit.lines == (b" 1\r\n", b"-2\n", b"+zwei\n", b" 3")


def test_a_split_offers_the_separate_blocks_of_a_hunk(tmp_path: Path) -> None:
    changed = numbered(60, l10=b"ten", l14=b"fourteen", l17=None, l20=b"twenty\nextra")
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(changed)})
    (unit,) = listing(repo).files[0].hunks
    assert len(blocks(unit)) == 4


def test_ids_stay_when_other_lines_move_and_differ_for_equal_hunks(tmp_path: Path) -> None:
    lines = b"def h():\n    x = 1\n    return x\n\n\n\n\n\n" * 3
    changed = lines.replace(b"x = 1", b"x = 2")
    repo = repository(tmp_path, {b"a": file(numbered(20) + lines)}, {b"a": file(numbered(20) + changed)})
    first = [unit.id for unit in listing(repo).files[0].hunks]
    put(repo.root, {b"a": file(b"new first\n" + numbered(20) + changed)})
    later = [unit.id for unit in listing(repo).files[0].hunks]
    assert len(set(first)) == len(first) == 3
    assert set(first) < set(later)


def test_names_are_taken_as_bytes(tmp_path: Path) -> None:
    names = [b'q"uote', b"tab\tname", b"new\nline", b"\xff\xfe", b"-dash", b"x b/y", b" lead", b":(top)x"]
    repo = repository(tmp_path, {name: file(b"1\n") for name in names}, {n: file(b"2\n") for n in names})
    assert sorted(os.fsencode(f.path) for f in listing(repo).files) == sorted(names)


def test_a_listing_can_be_limited_to_paths(tmp_path: Path) -> None:
    new: World = {b"a": file(b"1\n"), b"d/b": file(b"1\n"), b"dd": file(b"1\n")}
    repo = repository(tmp_path, {}, new)
    base = git(repo.root, "rev-parse", "HEAD^{tree}").decode().strip()
    found = list_changes(repo, base, take(repo).tree, ["d"])
    assert list(kinds(found)) == ["d/b"]
    assert relist(repo, found.snapshot) == found
    everything = list_changes(repo, base, take(repo).tree)
    limited = relist(repo, everything.snapshot, ["d"])
    assert (limited.files, limited.snapshot) == (found.files, everything.snapshot)


def test_a_token_gives_the_same_listing_again_whatever_happened_since(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(N60)}, {b"a": file(numbered(60, l5=b"five"))})
    first = listing(repo)
    put(repo.root, {b"other": file(b"x\n")})
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "by the agent")
    assert relist(repo, first.snapshot).files == first.files


@pytest.mark.parametrize("token", ["", "x", "../..", f"{'0' * 40}-{'1' * 40}", f"{'a' * 40}-{'b' * 40}"])
def test_a_token_of_nothing_is_refused(token: str, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        relist(repository(tmp_path, {}), token)


HOSTILE = {
    "color.ui": "always",
    "color.diff": "always",
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.context": "0",
    "diff.interHunkContext": "20",
    "diff.renames": "false",
    "diff.renameLimit": "1",
    "diff.external": "false",
    "diff.suppressBlankEmpty": "true",
    "diff.wordRegex": ".",
    "diff.algorithm": "patience",
    "diff.indentHeuristic": "false",
    "diff.orderFile": "order",
    "diff.relative": "true",
    "diff.submodule": "log",
    "diff.ignoreSubmodules": "all",
    "diff.colorMoved": "zebra",
    "diff.wsErrorHighlight": "all",
    "diff.x.textconv": "false",
    "diff.x.binary": "true",
    "diff.x.command": "false",
    "core.quotePath": "true",
    "core.abbrev": "4",
    "core.whitespace": "trailing-space",
    "core.pager": "false",
    "core.attributesFile": "attributes",
    "core.fsmonitor": "false",
    "core.hooksPath": "hooks",
    "core.bigFileThreshold": "1",
    "core.precomposeUnicode": "true",
    "core.untrackedCache": "true",
    "core.splitIndex": "true",
    "apply.whitespace": "fix",
    "status.showUntrackedFiles": "no",
    "status.relativePaths": "false",
    "format.pretty": "oneline",
    "log.showSignature": "true",
    "advice.addEmbeddedRepo": "false",
}
VARIABLES = {
    "GIT_DIFF_OPTS": "-u0",
    "GIT_EXTERNAL_DIFF": "false",
    "GIT_DIR": "/nonexistent",
    "GIT_WORK_TREE": "/nonexistent",
    "GIT_INDEX_FILE": "/nonexistent",
    "GIT_OBJECT_DIRECTORY": "/nonexistent",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NAMESPACE": "x",
    "GIT_TRACE": "1",
    "GIT_PAGER": "false",
    "LANG": "de_DE.UTF-8",
}


def test_no_setting_or_variable_of_the_user_changes_a_listing(tmp_path: Path) -> None:
    from_old = {b"a": file(b"a\n\nb\n\nc\n" + numbered(30)), b"old": file(N60), b"x": file(b"1 \n")}
    to_new = {
        b"a": file(b"a\n\nB\n\nc\n" + numbered(30, l20=b"zwanzig")),
        b"new": file(N60 + b"more\n"),
        b"x": file(b"1\n"),
        b"untracked": file(b"y\n"),
    }
    repo = repository(tmp_path, dict(from_old), dict(to_new))
    plain = listing(repo)
    Path(repo.root, ".git/info/attributes").write_text("* -diff\n* diff=x\n")
    hooks = Path(repo.root, ".git", "hooks-ran")
    Path(tmp_path, "hooks").mkdir()
    Path(tmp_path, "hooks", "post-index-change").write_text(f"#!/bin/sh\ntouch '{hooks}'\n")
    Path(tmp_path, "hooks", "post-index-change").chmod(0o755)
    for name, value in HOSTILE.items():
        value = str(tmp_path / value) if name in ("core.hooksPath", "core.attributesFile") else value
        git(repo.root, "config", name, value)
    Path(tmp_path, "attributes").write_text("* binary\n")
    assert listing(find(repo.root, ENV | VARIABLES)).files == plain.files
    assert not hooks.exists()
