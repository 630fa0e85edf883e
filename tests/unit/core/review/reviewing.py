"""What tests of diffy's core do again and again: a repository, a listing, decisions by some description."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from forge.core.review.baseline import resolve
from forge.core.review.finish import Ending, Outcome, finish
from forge.core.review.listing import list_changes
from forge.core.review.model import Decision, File, Listing, Review, Unit
from forge.core.review.repository import Repository, find
from forge.core.review.snapshot import take
from review_world import ENV, World, look, new_repository, put

Pick = Callable[[File, Unit], bool]


def file(content: bytes, mode: int = 0o644) -> tuple[str, bytes, int]:
    return ("file", content, mode)


def numbered(count: int, end: bytes = b"\n", **changed: bytes | None) -> bytes:
    """Lines `line 1` … with some replaced (`l3=b"three"`) or left out (None)."""
    lines = [changed.get(f"l{n}", b"line %d" % n) for n in range(1, count + 1)]
    return b"".join(line + end for line in lines if line is not None)


def repository(path: Path, old: World, new: World | None = None) -> Repository:
    """A repository in which `old` is committed and `new` is in the work tree."""
    root = str(path / "repo")
    new_repository(root, old)
    if new is not None:
        put(root, new)
    return find(root, ENV)


def listing(repo: Repository, base: str = "HEAD") -> Listing:
    now = take(repo)
    return list_changes(repo, resolve(repo, base), now.tree, (), now.large)


def everything(_: File, __: Unit) -> bool:
    return True


def reject(repo: Repository, pick: Pick = everything, base: str = "HEAD") -> Outcome:
    """Rejects some units of a fresh listing and applies that."""
    found = listing(repo, base)
    return apply(repo, found, [u.id for f in found.files for u in f.hunks if pick(f, u)])


def apply(repo: Repository, found: Listing, rejected: Iterable[str]) -> Outcome:
    decisions = tuple(Decision(name, "reject") for name in rejected)
    return finish(repo, found, Review(found.snapshot, "accept", decisions), Ending(apply=True))


def kinds(found: Listing) -> dict[str, list[str]]:
    return {f.path: [f.status, *(u.kind for u in f.hunks)] for f in found.files}


def world(repo: Repository) -> World:
    return look(repo.root)


def path(repo: Repository, name: str) -> str:
    return os.path.join(repo.root, name)
