"""Whole reviews of random repositories: list, decide, apply, check every byte, restore.

The suite uses few seeds, `python -m benchmarks.review_random` many.
"""

from __future__ import annotations

import json
import random

from forge.core.review.baseline import resolve
from forge.core.review.exchange import listing_json
from forge.core.review.finish import Ending, finish
from forge.core.review.listing import list_changes
from forge.core.review.model import Decision, Listing, Review, Unit
from forge.core.review.repository import Refused, Repository, find
from forge.core.review.restore import restore
from forge.core.review.snapshot import take
from review_world import (
    ENV,
    World,
    changed_content,
    changed_world,
    directories,
    expected,
    facts,
    git,
    lf_lines,
    look,
    new_repository,
    put,
    random_world,
)

# None of these may change what comes out.
SETTINGS = (
    *("apply.whitespace=fix", "diff.noprefix=true", "core.quotePath=true", "diff.algorithm=patience"),
    *("color.ui=always", "diff.renames=copies", "core.fileMode=true", "diff.context=0", "core.abbrev=4"),
)


def round_of_units(seed: int, root: str) -> int:
    """Random verdicts on whole units; the number of units."""
    rng = random.Random(seed)
    old, new, repo, staged = _start(rng, root)
    before, folders = facts(root), directories(root)
    found = _list(repo)
    names = [unit.id for file in found.files for unit in file.hunks]
    assert len(set(names)) == len(names)
    share = rng.choice([0.2, 0.5, 0.8, 1.0])
    rejected = {name for name in names if rng.random() < share}
    files = json.loads(listing_json(found))["files"]
    wanted = expected(old, new, files, rejected)
    review = Review(found.snapshot, "accept", tuple(Decision(name, "reject") for name in rejected))
    try:
        done = finish(repo, found, review, Ending(apply=True, remember=True))
    except Refused:
        assert (wanted, look(root), facts(root)) == (None, new, before)
        return len(names)
    assert look(root) == wanted
    assert (done.rejected, done.total) == (len(rejected), len(names))
    assert staged or facts(root) == before
    assert b".diffy" not in git(root, "status", "--porcelain", "-uall")
    again = list_changes(repo, resolve(repo, "reviewed"), take(repo).tree)
    assert again.hunks == 0
    if done.backup:
        restore(repo)
    assert (look(root), facts(root), directories(root)) == (new, before, folders)
    return len(names)


def round_of_lines(seed: int, root: str) -> int:
    """Random lines of one text file are rejected: the others stay, and nothing is glued together."""
    rng = random.Random(seed)
    old = b"".join(_line(rng) for _ in range(30))
    new = changed_content(rng, old)
    old, new = (data[:-1] if data and rng.random() < 0.3 else data for data in (old, new))
    new_repository(root, {b"a": ("file", old, 0o644)})
    put(root, {b"a": ("file", new, 0o644)})
    repo = find(root, ENV)
    found = _list(repo)
    texts = [unit for file in found.files for unit in file.hunks if unit.kind == "text"]
    chosen = {unit.id: _some(rng, unit) for unit in texts}
    decisions = tuple(Decision(name, "reject", lines=tuple(lines)) for name, lines in chosen.items())
    finish(repo, found, Review(found.snapshot, "accept", decisions), Ending(apply=True))
    result = look(root).get(b"a", ("file", b"", 0))[1]
    assert _ended(lf_lines(result)) == sorted(_ended(_kept(lf_lines(new), texts, chosen)))
    if any(chosen.values()) and result != new:
        restore(repo)
    assert look(root)[b"a"][1] == new
    return len(texts)


def round_of_concurrent_edit(seed: int, root: str) -> int:
    """Somebody edits a file between the listing and the decision: it is refused, or nobody's work is lost."""
    rng = random.Random(seed)
    _, new, repo, _ = _start(rng, root)
    found = _list(repo)
    if not found.files:
        return 0
    victims = [path for path, entry in new.items() if entry[0] == "file"]
    if not victims:
        return 0
    victim = rng.choice(victims)
    edited: World = {**new, victim: ("file", b"concurrent\n" + new[victim][1], new[victim][2])}
    put(root, edited)
    before = facts(root)
    try:
        finish(repo, found, Review(found.snapshot, "reject"), Ending(apply=True))
    except Refused:
        assert (look(root), facts(root)) == (edited, before)
    else:
        assert look(root)[victim] == edited[victim]
    return found.hunks


def _start(rng: random.Random, root: str) -> tuple[World, World, Repository, bool]:
    old = random_world(rng)
    new = changed_world(rng, old)
    if rng.random() < 0.1:
        old = {}
    new_repository(root, old, settings=[rng.choice(SETTINGS)] if rng.random() < 0.3 else [])
    put(root, new)
    staged = rng.random() < 0.2
    if staged:
        git(root, "add", "-A")
    assert look(root) == new
    return old, new, find(root, ENV), staged


def _list(repo: Repository) -> Listing:
    return list_changes(repo, resolve(repo, "HEAD"), take(repo).tree)


def _line(rng: random.Random) -> bytes:
    return (
        rng.choice((b"alpha", b"beta", b"gamma delta"))
        + b" %d" % rng.randrange(5)
        + rng.choice((b"\n", b"\r\n"))
    )


def _some(rng: random.Random, unit: Unit) -> list[int]:
    return [at for at, line in enumerate(unit.lines) if line[:1] != b" " and rng.random() < 0.5]


def _kept(new: list[bytes], texts: list[Unit], chosen: dict[str, list[int]]) -> list[bytes]:
    """All lines that must be there afterwards, in no particular order."""
    lines = list(new)
    for unit in texts:
        for at in chosen[unit.id]:
            line = unit.lines[at][1:]
            if unit.lines[at][:1] == b"+":
                lines.remove(line)
            else:
                lines.append(line)
    return lines


def _ended(lines: list[bytes]) -> list[bytes]:
    return sorted(line.rstrip(b"\r\n") for line in lines)
