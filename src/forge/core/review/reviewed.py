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

_Entry = tuple[str, str]


def reviewed_tree(repo: Repository, listing: Listing, choices: Mapping[str, Choice]) -> str:
    """The baseline of the next review: what was rejected or is still open is shown again if it is there."""
    if all(choice.is_accepted for choice in choices.values()) and _is_complete(repo, listing):
        return listing.new
    rows: list[bytes] = []
    gone, made = [], []
    for file in listing.files:
        before = {file.old_path: (file.old_mode, file.old_id)}
        after = _accepted(repo, listing, file, choices)
        gone += [path for path in before if path not in after]
        made += list(after.items())
    # Removals first: a file may take the place of a directory.
    rows += [_row(ABSENT, "0" * len(listing.base), path) for path in gone]
    rows += [_row(mode, name, path) for path, (mode, name) in made]
    return changed_tree(repo, listing.base, rows)


def _is_complete(repo: Repository, listing: Listing) -> bool:
    """Whether the listing has all that differs: it may have been limited to some paths."""
    out = repo.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", listing.base, listing.new)
    changed = {os.fsdecode(name) for name in out.split(b"\0") if name}
    return changed <= {path for file in listing.files for path in (file.path, file.old_path)}


def _accepted(
    repo: Repository, listing: Listing, file: File, choices: Mapping[str, Choice]
) -> dict[str, _Entry]:
    """The entries of a file with only what was accepted; none if it is not there then."""

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
    if not content and ABSENT in (file.old_mode, file.new_mode) and file.status in "AD":
        return {}
    mode = file.new_mode if agreed(MODE) and file.new_mode != ABSENT else file.old_mode
    return _entry(path, mode if mode != ABSENT else file.new_mode, write_blobs(repo, [content])[0])


def _entry(path: str, mode: str, name: str) -> dict[str, _Entry]:
    return {} if mode == ABSENT else {path: (mode, name)}


def _row(mode: str, name: str, path: str) -> bytes:
    return f"{mode} {name}\t".encode() + os.fsencode(path) + b"\0"
