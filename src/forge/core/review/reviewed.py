"""The tree a user has agreed to: the baseline with everything that was accepted."""

from __future__ import annotations

import os
from collections.abc import Mapping

from forge.core.review.blobs import write_blobs
from forge.core.review.choose import Choice
from forge.core.review.hunks import split_lines
from forge.core.review.model import ABSENT, CONTENT, MODE, RENAME, TEXT, WHOLE, File, Listing
from forge.core.review.repository import Repository
from forge.core.review.snapshot import changed_tree
from forge.core.review.splice import without


def reviewed_tree(repo: Repository, listing: Listing, choices: Mapping[str, Choice]) -> str:
    """The baseline of the next review: what was rejected or is still open is shown again if it is there."""
    if all(choice.is_accepted for choice in choices.values()) and _is_complete(repo, listing):
        return listing.new
    gone: list[str] = []
    made: list[tuple[str, str, str | bytes]] = []
    for file in listing.files:
        entry = _accepted(listing, file, choices)
        if entry is None or entry[0] != file.old_path:
            gone.append(file.old_path)
        if entry is not None:
            made.append(entry)
    contents = [name for _, _, name in made if isinstance(name, bytes)]
    names = iter(write_blobs(repo, contents))
    # Removals first: a file may take the place of a directory.
    rows = [_row(ABSENT, "0" * len(listing.base), path) for path in gone]
    rows += [_row(mode, next(names) if isinstance(name, bytes) else name, path) for path, mode, name in made]
    return changed_tree(repo, listing.base, rows)


def _is_complete(repo: Repository, listing: Listing) -> bool:
    """Whether the listing has all that differs: it may have been limited to some paths."""
    out = repo.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", listing.base, listing.new)
    changed = {os.fsdecode(name) for name in out.split(b"\0") if name}
    return changed <= {path for file in listing.files for path in (file.path, file.old_path)}


def _accepted(
    listing: Listing, file: File, choices: Mapping[str, Choice]
) -> tuple[str, str, str | bytes] | None:
    """Path, mode, and object id or content of a file with only what was accepted; None if it is not there."""

    def agreed(kind: str) -> bool:
        return all(choices[unit.id].is_accepted for unit in file.hunks if unit.kind == kind)

    if not agreed(WHOLE):
        return _entry(file.old_path, file.old_mode, file.old_id)
    path = file.path if agreed(RENAME) else file.old_path
    texts = [unit for unit in file.hunks if unit.kind == TEXT]
    if all(choices[unit.id].is_accepted for unit in texts):
        name = file.new_id if agreed(CONTENT) else file.old_id
        return _entry(path, file.new_mode if agreed(MODE) else file.old_mode, name)
    new, old = (split_lines(listing.blobs[one] if one else b"") for one in (file.new_id, file.old_id))
    content = without(new, old, texts, choices, also_pending=True)
    if not content and file.status in "AD":
        return None
    mode = file.new_mode if agreed(MODE) and file.new_mode != ABSENT else file.old_mode
    return _entry(path, mode if mode != ABSENT else file.new_mode, content)


def _entry(path: str, mode: str, name: str | bytes) -> tuple[str, str, str | bytes] | None:
    return None if mode == ABSENT else (path, mode, name)


def _row(mode: str, name: str, path: str) -> bytes:
    return f"{mode} {name}\t".encode() + os.fsencode(path) + b"\0"
