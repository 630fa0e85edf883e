"""Lists what there is to decide between two trees. Paths, modes and ids come from git's raw records; patch
headers are never read."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence

import msgspec

from forge.core.review.blobs import as_stored, hunks_between, read_blobs
from forge.core.review.git import GitError
from forge.core.review.hunks import Hunk, split_lines
from forge.core.review.model import (
    ABSENT,
    CONTENT,
    MODE,
    RENAME,
    SUBMODULE,
    TEXT,
    WHOLE,
    File,
    Listing,
    Unit,
)
from forge.core.review.repository import Refused, Repository

_RAW = ("diff-tree", "-r", "-z", "--raw", "-M50%", "-l0", "--no-abbrev", "--ignore-submodules=none")
_TOKEN = re.compile(r"([0-9a-f]{40,64})-([0-9a-f]{40,64})(?:-((?:[0-9a-f]{2})+))?")
_REGULAR = ("100644", "100755")
_SNIFF = 8000
_TEXT_LIMIT = 64_000_000
_FILTERED = "its content on disk is made by a filter"


class _Row(msgspec.Struct, frozen=True):
    """A record of git's raw diff."""

    status: str
    old_path: str
    path: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str


def list_changes(
    repo: Repository, base: str, new: str, paths: Sequence[str] = (), large: Sequence[str] = ()
) -> Listing:
    """Everything that differs between two trees, below `paths` (relative to the root) if there are any."""
    rows = _rows(repo.git(*_RAW, base, new)) if base != new else []
    rows = [row for row in rows if _below(row, paths)]
    blobs = read_blobs(repo, [name for row in rows for name in _blob_ids(row)])
    texts = [_is_text(row, blobs) for row in rows]
    wholes = [_whole(repo, row, blobs) if text else "" for row, text in zip(rows, texts, strict=True)]
    compared = [at for at, row in enumerate(rows) if texts[at] and not wholes[at] and _both(row)]
    pairs = [(rows[at].old_id, rows[at].new_id) for at in compared]
    hunks = dict(zip(compared, hunks_between(repo, pairs, blobs), strict=True))
    files = []
    for at, row in enumerate(rows):
        found = hunks.get(at)
        if found is None and texts[at] and not wholes[at]:
            found = _one_sided(row, blobs)
        files.append(_file(row, found, texts[at], wholes[at]))
    return Listing(base, new, tuple(files), blobs, tuple(large), tuple(paths))


def relist(repo: Repository, token: str, paths: Sequence[str] = ()) -> Listing:
    """The listing a token was given out with; `paths` limit it further only if it had all."""
    found = _TOKEN.fullmatch(token)
    hint = "List the changes again."
    if not found:
        raise Refused(f"{token!r} is not the token of a listing", hint)
    limits = os.fsdecode(bytes.fromhex(found[3])).split("\0") if found[3] else []
    try:
        listing = list_changes(repo, found[1], found[2], limits or paths)
    except GitError as error:
        raise Refused("this review is about a state that is not known any more", hint) from error
    return msgspec.structs.replace(listing, paths=tuple(limits))


def _rows(out: bytes) -> list[_Row]:
    fields = [os.fsdecode(field) for field in out.split(b"\0")]
    rows, at = [], 0
    while at < len(fields) - 1:
        old_mode, new_mode, old_id, new_id, status = fields[at][1:].split(" ")
        moved = status[0] in "RC"
        old_path, path = fields[at + 1], fields[at + 2] if moved else fields[at + 1]
        old_id, new_id = (name if name.strip("0") else "" for name in (old_id, new_id))
        rows.append(_Row(status[0], old_path, path, old_mode, new_mode, old_id, new_id))
        at += 3 if moved else 2
    return rows


def _below(row: _Row, paths: Sequence[str]) -> bool:
    if not paths or "." in paths:
        return True
    return any(
        path == wanted or path.startswith(wanted + "/")
        for wanted in paths
        for path in (row.path, row.old_path)
    )


def _blob_ids(row: _Row) -> list[str]:
    sides = ((row.old_id, row.old_mode), (row.new_id, row.new_mode))
    return [name for name, mode in sides if name and mode != SUBMODULE]


def _both(row: _Row) -> bool:
    return bool(row.old_id and row.new_id)


def _is_text(row: _Row, blobs: dict[str, bytes]) -> bool:
    modes = {row.old_mode, row.new_mode} - {ABSENT}
    if not modes.issubset(_REGULAR):
        return False
    contents = [blobs[name] for name in _blob_ids(row)]
    return all(b"\0" not in data[:_SNIFF] and len(data) <= _TEXT_LIMIT for data in contents)


def _whole(repo: Repository, row: _Row, blobs: dict[str, bytes]) -> str:
    """Why the hunks of a text cannot be put into the file on disk one by one."""
    if not row.new_id or row.old_id == row.new_id:
        return ""
    path, stored = repo.absolute(row.path), blobs[row.new_id]
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            raw = file.read()
    except OSError:
        return ""
    if raw == stored or raw.replace(b"\r\n", b"\n") == stored:
        return ""
    # Either a filter is at work, or the file has changed since.
    if raw.count(b"\n") == stored.count(b"\n") and raw[-1:] == stored[-1:]:
        return ""
    return _FILTERED if as_stored(repo, row.path, raw) == row.new_id else ""


def _one_sided(row: _Row, blobs: dict[str, bytes]) -> list[Hunk]:
    """The hunk of an added or deleted text; none if it is empty."""
    lines = split_lines(blobs[row.new_id or row.old_id])
    if not lines:
        return []
    if row.new_id:
        return [Hunk(0, 0, 1, len(lines), tuple(b"+" + line for line in lines))]
    return [Hunk(1, len(lines), 0, 0, tuple(b"-" + line for line in lines))]


def _file(row: _Row, hunks: list[Hunk] | None, text: bool, whole: str) -> File:
    units = [_unit(row, kind) for kind in _kinds(row, hunks)]
    seen: dict[str, int] = {}
    for hunk in hunks or ():
        name = _id(row, TEXT, (b"".join(hunk.lines),))
        seen[name] = seen.get(name, 0) + 1
        ordinal = f"-{seen[name]}" if seen[name] > 1 else ""
        counts = (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count)
        units.append(Unit(name + ordinal, TEXT, *counts, hunk.lines))
    return File(
        path=row.path,
        old_path=row.old_path,
        status=row.status,
        old_mode=row.old_mode,
        new_mode=row.new_mode,
        old_id=row.old_id,
        new_id=row.new_id,
        hunks=tuple(units),
        binary=not text and {row.old_mode, row.new_mode}.issubset((*_REGULAR, ABSENT)),
        whole=whole,
    )


def _kinds(row: _Row, hunks: list[Hunk] | None) -> list[str]:
    """The units of a file apart from its text hunks."""
    regular = row.old_mode in _REGULAR and row.new_mode in _REGULAR
    if row.status not in "MRC" or (row.status == "M" and not regular):
        return [] if hunks else [WHOLE]
    kinds = [RENAME] if row.status in "RC" else []
    if regular and row.old_mode != row.new_mode:
        kinds.append(MODE)
    if hunks is None and row.old_id != row.new_id:
        kinds.append(CONTENT)
    return kinds


def _unit(row: _Row, kind: str) -> Unit:
    return Unit(_id(row, kind, (row.old_mode, row.new_mode, row.old_id, row.new_id)), kind)


def _id(row: _Row, kind: str, parts: Sequence[bytes | str]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in (row.old_path, row.path, kind, *parts):
        data = os.fsencode(part)
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()
