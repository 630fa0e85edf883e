"""Raw copies of everything a review is about to change, and the way back.

They are in git's directory, where the agent has no business; the work tree only has a list of their names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from forge.core.review import disk
from forge.core.review.disk import Entry
from forge.core.review.plan import Step
from forge.core.review.repository import Repository
from forge.core.review.snapshot import copy_index
from forge.core.review.write import waiting_name
from forge.foundation.errors import ForgeError
from forge.foundation.lenient import read_as
from forge.foundation.system.locks import replace

MOST = 10
_MANIFEST = "manifest.json"
INDEX = "index"


class State(msgspec.Struct, frozen=True):
    """An entry without its content."""

    kind: str
    digest: str
    mode: int
    owner: tuple[int, int] = (-1, -1)


class Saved(msgspec.Struct, frozen=True):
    """A path before and after. Its old content is the file `content` beside the manifest, if it had any."""

    path: bytes
    before: State
    after: State
    content: str = ""


class Backup(msgspec.Struct, frozen=True):
    """What one review changed. `done` is false while it is being written.

    `index` is the digest of git's index afterwards, empty if it was left alone. `directories` are those that
    may have been removed, with their permission bits.
    """

    id: str
    time: float
    paths: tuple[Saved, ...]
    directories: tuple[tuple[bytes, int], ...] = ()
    index: str = ""
    done: bool = False


def save(repo: Repository, steps: Sequence[Step], now: float) -> Backup:
    """Copies everything the steps will change, and says so in a manifest before the first of them."""
    number = max((int(name) for name in _numbers(repo)), default=0) + 1
    backup = Backup(str(number), now, (), _directories(repo, steps))
    directory = folder(repo, backup.id)
    os.makedirs(directory, mode=0o700)
    try:
        saved = tuple(_save(directory, at, step) for at, step in enumerate(steps))
        copy_index(repo, os.path.join(directory, INDEX))
        backup = msgspec.structs.replace(backup, paths=saved)
        record(repo, backup)
    except BaseException:
        drop(repo, backup)
        raise
    return backup


def _save(directory: str, at: int, step: Step) -> Saved:
    name = ""
    if step.before.kind in (disk.FILE, disk.SYMLINK):
        name = f"{at}"
        _write(os.path.join(directory, name), step.before.content)
    return Saved(os.fsencode(step.path), state(step.before), state(step.after), name)


def record(repo: Repository, backup: Backup) -> None:
    """Writes the manifest of a backup."""
    path = os.path.join(folder(repo, backup.id), _MANIFEST)
    _write(path + ".new", msgspec.json.encode(backup))
    replace(path + ".new", path)


def list_backups(repo: Repository) -> list[Backup]:
    """All backups, oldest first."""
    names = sorted(_numbers(repo), key=int)
    found = [read_as(os.path.join(folder(repo, name), _MANIFEST), Backup) for name in names]
    return [backup for backup in found if backup]


def drop(repo: Repository, backup: Backup) -> None:
    """Removes a backup with its data."""
    directory = folder(repo, backup.id)
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(directory), key=lambda one: one == _MANIFEST):
            disk.discard(os.path.join(directory, name))
        os.rmdir(directory)


def keep_newest(repo: Repository) -> None:
    """Drops backups beyond the limit and writes the list of the others into the work tree."""
    kept = [backup for backup in list_backups(repo) if backup.done]
    for old in kept[:-MOST]:
        drop(repo, old)
    note = os.path.join(repo.root, ".diffy")
    if os.path.islink(note):
        return  # somebody wants us to write elsewhere; the list is only for people anyway
    with suppress(OSError):
        os.makedirs(note, exist_ok=True)
        for name, text in (
            (".gitignore", "*\n"),
            ("backup-refs", "".join(f"{b.id}\n" for b in kept[-MOST:])),
        ):
            path = os.path.join(note, name)
            _write(path + ".new", text.encode())
            os.replace(path + ".new", path)


def old_entry(repo: Repository, backup: Backup, saved: Saved) -> Entry:
    """What a path was before the review; a directory comes back with its files."""
    if saved.before.kind == disk.DIRECTORY:
        return Entry()
    content = b""
    if saved.content:
        path = os.path.join(folder(repo, backup.id), saved.content)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise ForgeError(f"{path}: the backup cannot be read: {error.strerror}") from error
    return Entry(saved.before.kind, content, saved.before.mode, saved.before.owner)


def state(entry: Entry) -> State:
    """An entry as a manifest has it."""
    return State(entry.kind, entry.digest, entry.mode, entry.owner)


def clear_waiting(repo: Repository, backup: Backup) -> None:
    """Removes what a crash has left beside the files it was about to change."""
    for at, saved in [(-1, one) for one in backup.paths] + list(enumerate(backup.paths)):
        directory = os.path.dirname(repo.absolute(os.fsdecode(saved.path)))
        while len(directory) >= len(repo.root):
            disk.discard(os.path.join(directory, waiting_name(backup.id, at)))
            directory = os.path.dirname(directory)


def folder(repo: Repository, name: str) -> str:
    """Where a backup is."""
    return os.path.join(repo.state, "backups", name)


def _numbers(repo: Repository) -> list[str]:
    try:
        return [name for name in os.listdir(os.path.join(repo.state, "backups")) if name.isdecimal()]
    except FileNotFoundError:
        return []


def _directories(repo: Repository, steps: Sequence[Step]) -> tuple[tuple[bytes, int], ...]:
    found: dict[str, int] = {}
    for step in steps:
        directory = os.path.dirname(step.path)
        while directory and step.after.kind == disk.ABSENT and directory not in found:
            found[directory] = disk.look(repo.root, directory).mode
            directory = os.path.dirname(directory)
    return tuple((os.fsencode(path), mode) for path, mode in sorted(found.items()))


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
