"""Removes objects of old snapshots from the private store, at most once a day."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from forge.core.review.baseline import NAMES, forget, sessions
from forge.core.review.git import GitError
from forge.core.review.repository import Repository

DAY = 86400.0
_KEPT_DAYS = 14


def tidy(repo: Repository, now: float) -> int:
    """Removes what is older than two weeks and belongs to no baseline; returns how many objects went."""
    mark = os.path.join(repo.state, "tidied")
    with suppress(OSError):
        if now - os.stat(mark).st_mtime < DAY:
            return 0
    oldest = now - _KEPT_DAYS * DAY
    old = [path for path, time in _objects(repo) if time < oldest]
    removed = _remove(repo, old, oldest) if old else 0
    with suppress(OSError), open(mark, "wb"):
        os.utime(mark, (now, now))
    return removed


def _remove(repo: Repository, paths: list[str], oldest: float) -> int:
    forget(repo, oldest)
    trees = {str(getattr(kept, name)) for kept in sessions(repo).values() for name in NAMES} - {""}
    try:
        fed = "".join(f"{tree}\n" for tree in trees).encode()
        out = repo.git("rev-list", "--objects", "--no-object-names", "--ignore-missing", "--stdin", fed=fed)
    except GitError:
        return 0  # better too much than too little
    needed = set(out.decode().split())
    removed = 0
    for path in paths:
        directory, name = os.path.split(path)
        if os.path.basename(directory) + name not in needed:
            with suppress(OSError):
                os.remove(path)
                removed += 1
    return removed


def _objects(repo: Repository) -> Iterator[tuple[str, float]]:
    store = os.path.join(repo.state, "objects")
    with suppress(OSError):
        for directory in os.listdir(store):
            if len(directory) == 2:
                for entry in os.scandir(os.path.join(store, directory)):
                    yield entry.path, entry.stat().st_mtime
