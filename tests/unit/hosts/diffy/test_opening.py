from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.review.baseline import mark
from forge.core.review.model import Decision, Review
from forge.core.review.snapshot import take
from forge.foundation.errors import UsageError
from forge.hosts.diffy.opening import open_listing, ruled
from forge.hosts.diffy.request import Request, below_root, parse
from review_world import git, put
from unit.core.review.reviewing import file, kinds, repository


def test_the_last_review_is_what_a_review_starts_from(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"2\n")})
    mark(repo, "s", 1.0, session=take(repo).tree)
    put(repo.root, {b"a": file(b"2\n"), b"b": file(b"new\n")})
    name, found = open_listing(repo, Request(repo.root, session="s"))
    assert (name, list(kinds(found))) == ("session", ["b"])
    name, found = open_listing(repo, Request(repo.root, base="HEAD", session="s"))
    assert (name, list(kinds(found))) == ("HEAD", ["a", "b"])


def test_a_kept_state_that_lost_an_object_is_not_the_end(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"2\n")})
    mark(repo, "s", 1.0, session=take(repo).tree)
    blob = git(repo.root, "hash-object", "a").decode().strip()
    os.unlink(os.path.join(repo.state, "objects", blob[:2], blob[2:]))
    put(repo.root, {b"a": file(b"3\n")})
    name, found = open_listing(repo, Request(repo.root, session="s"))
    assert (name, kinds(found)) == ("HEAD", {"a": ["M", "text"]})


def test_staged_changes_are_compared_with_the_last_commit(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"2\n"), b"b": file(b"1\n")})
    git(repo.root, "add", "b")
    assert kinds(open_listing(repo, Request(repo.root, staged=True))[1]) == {"b": ["A", "text"]}


def test_what_the_user_decided_comes_before_a_rule(tmp_path: Path) -> None:
    repo = repository(tmp_path, {}, {b"uv.lock": file(b"1\n"), b"go.sum": file(b"1\n")})
    request = Request(repo.root, auto_accept="lock")
    found = open_listing(repo, request)[1]
    by_user = Decision(found.files[0].hunks[0].id, "reject")
    by_rule = Decision(found.files[1].hunks[0].id, "accept", by="lock file")
    assert ruled(found, request, Review(decisions=(by_user,))).decisions == (by_user, by_rule)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], {}),
        (["--base=main~2", "--apply"], {"base": "main~2", "apply": True}),
        (["--ref", "v1", "x", "--", "--y"], {"base": "v1", "paths": ("x", "--y")}),
        (
            ["--head", "--hook-mode", "--hook-output", "json"],
            {"base": "HEAD", "hook_mode": True, "hook_output": "json"},
        ),
        (["--restore", "--list"], {"restore": "", "list": True}),
        (["--restore", "12", "--force"], {"restore": "12", "force": True}),
        (["--restore", "what"], {"restore": "what"}),
        (["--export", "md", "--decisions", "-"], {"export": "md", "decisions": "-"}),
    ],
)
def test_words_become_a_request(argv: list[str], expected: dict[str, object]) -> None:
    found = parse(argv, {"DIFFY_FEEDBACK_MAX_SIZE": "x"}, "/d")
    assert found == Request(cwd="/d", **expected)  # type: ignore[arg-type]  # of the types in the table


@pytest.mark.parametrize(
    "argv",
    [
        ["--base"],
        ["--base", ""],
        ["--export", "pdf"],
        ["--hook-output", "x"],
        ["--head", "--base", "x"],
        ["--list"],
        ["--json", "--decisions", "x"],
        ["--restore", "--json"],
        ["--restore", "1", "2"],
        ["-x"],
    ],
)
def test_words_that_make_no_sense_are_a_mistake(argv: list[str]) -> None:
    with pytest.raises(UsageError):
        parse(argv, {}, "/d")


def test_paths_are_relative_to_where_diffy_runs(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    os.makedirs(os.path.join(root, "d"))
    os.symlink("nowhere", os.path.join(root, "d", "link"))
    asked = Request(os.path.join(root, "d"), paths=("x", "../y/", ".", "link", f"{root}/z", ".."))
    assert below_root(asked, root) == ["d/x", "y", "d", "d/link", "z", "."]
