"""Git's index after a revert: entries the agent had staged follow the files, all others stay as they are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from forge.core.review import disk
from forge.core.review.backup import INDEX
from forge.core.review.blobs import chunks
from forge.core.review.git import GitError
from forge.core.review.model import ABSENT, Listing
from forge.core.review.plan import Step
from forge.core.review.repository import Repository


def staged_paths(repo: Repository, listing: Listing, steps: Sequence[Step]) -> list[str]:
    """The paths whose index entry is what was reviewed, so that it must change with the file."""
    reviewed = {file.path: (file.new_mode, file.new_id) for file in listing.files}
    paths = [step.path for step in steps]
    entries = _entries(repo, paths)
    follow = [
        path
        for path in paths
        if path in entries and _known(entries[path]) == reviewed.get(path, (ABSENT, ""))
    ]
    missing = [
        path for path in paths if path not in entries and reviewed.get(path, (ABSENT, ""))[0] == ABSENT
    ]
    removed = [step.path for step in steps if step.after.kind == disk.ABSENT and step.path in entries]
    planned = _intended(repo, removed) if set(removed).difference(follow) else set()
    return list(dict.fromkeys([*follow, *_in_head(repo, missing), *(p for p in removed if p in planned)]))


def follow_files(repo: Repository, paths: Sequence[str]) -> tuple[str, ...]:
    """Lets the index entries of these paths follow the files; returns a note if that was not possible."""
    if not paths:
        return ()
    fed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    options = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    try:
        # Into the repository's own store: the index must never depend on ours.
        repo.start(*options, fed=True, private=False).result(fed)
    except GitError as error:
        return (f"git's index was not updated: {error.message}",)
    return ()


def digest(repo: Repository) -> str:
    """What the index says, without the times that git keeps in it."""
    return hashlib.sha256(repo.git("ls-files", "-s", "-z")).hexdigest()


def put_back(repo: Repository, backup: str, after: str) -> tuple[str, ...]:
    """Puts the copy of the index back if it was changed by the review and by nobody since."""
    if not after:
        return ()
    if digest(repo) != after:
        return ("git's index was left alone, because it has changed since",)
    source, target = os.path.join(backup, INDEX), os.path.join(repo.git_dir, "index")
    try:
        with open(source, "rb") as file:
            content, times = file.read(), os.fstat(file.fileno())
        # The way git itself does it, so that no running git is disturbed.
        descriptor = os.open(target + ".lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(descriptor, "wb") as file:
            file.write(content)
        os.utime(target + ".lock", ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(target + ".lock", target)
    except OSError as error:
        return (f"git's index could not be restored: {error.strerror}",)
    return ()


def _entries(repo: Repository, paths: Sequence[str]) -> dict[str, list[str]]:
    """Mode, object id and stage of index entries by path; of a conflict, all stages."""
    found: dict[str, list[str]] = {}
    for some in chunks(paths):
        out = repo.git("--literal-pathspecs", "ls-files", "-s", "-z", "--", *some)
        for row in filter(None, out.split(b"\0")):
            facts, _, path = row.partition(b"\t")
            found.setdefault(os.fsdecode(path), []).append(facts.decode())
    return found


def _known(rows: list[str]) -> tuple[str, str]:
    mode, name, stage = rows[0].split(" ")
    return (mode, name) if stage == "0" else ("", "")


def _in_head(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Those of the paths that the last commit has: only the index has lost them."""
    found: set[str] = set()
    for some in chunks(paths):
        try:
            out = repo.git("--literal-pathspecs", "ls-tree", "-z", "--name-only", "HEAD", "--", *some)
        except GitError:
            return []  # no commit yet
        found.update(os.fsdecode(name) for name in out.split(b"\0"))
    return [path for path in paths if path in found]


def _intended(repo: Repository, paths: Sequence[str]) -> set[str]:
    """Those of the paths that are in the index only as an intention to add them."""
    found: set[str] = set()
    for some in chunks(paths):
        out = repo.git(
            "--literal-pathspecs", "diff-files", "-z", "--name-only", "--diff-filter=A", "--", *some
        )
        found.update(os.fsdecode(name) for name in out.split(b"\0") if name)
    return found
