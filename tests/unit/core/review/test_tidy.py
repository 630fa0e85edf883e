from __future__ import annotations

import os
from pathlib import Path

from forge.core.review.baseline import default, mark, sessions
from forge.core.review.listing import list_changes
from forge.core.review.repository import Repository
from forge.core.review.snapshot import take
from forge.core.review.tidy import DAY, tidy
from review_world import put
from unit.core.review.reviewing import file, kinds, repository


def age(repo: Repository, days: float, now: float) -> None:
    for path in Path(repo.state, "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (now - days * DAY, now - days * DAY))


def stored(repo: Repository) -> int:
    return sum(path.is_file() for path in Path(repo.state, "objects").rglob("*"))


def test_only_old_objects_that_no_baseline_needs_are_removed(tmp_path: Path) -> None:
    now = 1_800_000_000.0
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"needed\n")})
    kept = take(repo).tree
    mark(repo, "running", now, session=kept)
    put(repo.root, {b"a": file(b"forgotten\n")})
    mark(repo, "long ago", now - 20 * DAY, session=take(repo).tree)
    assert stored(repo) == 4
    age(repo, 13, now)
    assert tidy(repo, now) == 0
    age(repo, 15, now)
    assert (tidy(repo, now + 1), tidy(repo, now + DAY + 1)) == (0, 2)
    assert list(sessions(repo)) == ["running"]
    base = default(repo, "running")[1]
    assert kinds(list_changes(repo, base, take(repo).tree)) == {"a": ["M", "text"]}
