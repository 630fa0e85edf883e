"""Copies of files as they were when a prompt was given, in the format of the reference program.

A copy has the bytes and the mode of its file and is never half written; equal states are kept once.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from typing import Any

import msgspec

from forge.foundation.history.transcript import Record, decode_record, read_index, read_lines
from forge.foundation.system.locks import give_name, open_unnamed, replace

KEPT = 100
_LOOK_BACK = 20


class Backup(msgspec.Struct, frozen=True, rename="camel"):
    """The state of one file; no name: the file did not exist."""

    backup_file_name: str | None = None
    version: int = 1
    backup_time: str = ""
    real_parent_dir: str = ""


class Snapshot(msgspec.Struct, frozen=True):
    """The states of files at one prompt, by absolute path."""

    message: str
    files: dict[str, Backup]


def history_dir(claude_dir: str, session_id: str) -> str:
    """Where the copies of a session are."""
    return os.path.join(claude_dir, "file-history", session_id)


def keep_copy(folder: str, path: str, version: int) -> tuple[str | None, int]:
    """Saves a file as it is: the name of the copy and its version; no name when there is no such file.

    An earlier copy with the same bytes and mode is used again.
    """
    try:
        data, mode = _read(path)
    except FileNotFoundError:
        return None, version
    for earlier in range(version - 1, max(0, version - _LOOK_BACK), -1):
        name = _copy_name(path, earlier)
        if _is_same(os.path.join(folder, name), data, mode):
            return name, earlier
    # A run that was killed may have left a copy nobody knows of.
    while os.path.exists(os.path.join(folder, _copy_name(path, version))):
        version += 1
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, _copy_name(path, version))
    _write(f"{target}.{os.getpid()}.new", target, data, mode)
    return os.path.basename(target), version


def put_back(folder: str, name: str, path: str) -> None:
    """Makes a file what its copy is, bytes and mode; readers see the old or the new state."""
    source = os.path.join(folder, name)
    mode = stat.S_IMODE(os.stat(source).st_mode)
    with open(source, "rb") as file:
        data = file.read()
    directory, base = os.path.split(path)
    os.makedirs(directory, exist_ok=True)
    # One fixed name: what a killed run left is taken over by the next.
    beside = os.path.join(directory, f".{base}.forge-rewind")
    _write(beside, path, data, mode)


def tracking_path(path: str, start_dir: str) -> str:
    """How a record names a file: relative to the start directory if it is inside."""
    inside = path.startswith(start_dir.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, start_dir) if inside else path


def read_history(path: str, cwd: str) -> list[Snapshot]:
    """The newest snapshots of a transcript, oldest first; raises OSError when it cannot be read."""
    return parse_history(path, read_index(path).file_history, cwd)


def parse_history(path: str, spans: list[tuple[int, int]], cwd: str) -> list[Snapshot]:
    """The same for the places of the records in the file, which a resumed session knows already."""
    found: dict[str, dict[str, Backup]] = {}
    for line in read_lines(path, spans):
        record = decode_record(line) or {}
        if record.get("type") == "file-history-delta":
            _add_delta(found, record, cwd)
        else:
            _add_snapshot(found, record, cwd)
    return [Snapshot(message, files) for message, files in list(found.items())[-KEPT:]]


def state_at(history: list[Snapshot], message: str) -> dict[str, Backup] | None:
    """What each file was when a prompt was given; None when there is no snapshot of it.

    A file that was first touched later is what it was before that.
    """
    places = [n for n, snapshot in enumerate(history) if snapshot.message == message]
    if not places:
        return None
    state: dict[str, Backup] = {}
    for snapshot in history[places[-1] :]:
        for path, backup in snapshot.files.items():
            state.setdefault(path, backup)
    return state


def prune(folder: str, wanted: set[str | None]) -> None:
    """Removes the copies that are not wanted any more."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name not in wanted and not name.endswith(".new"):
                os.unlink(os.path.join(folder, name))


def _copy_name(path: str, version: int) -> str:
    """The reference looks for copies under exactly such names."""
    return f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}@v{version}"


def _read(path: str) -> tuple[bytes, int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise IsADirectoryError(21, "Not a regular file", path)
        return file.read(), stat.S_IMODE(status.st_mode)


def _is_same(copy: str, data: bytes, mode: int) -> bool:
    try:
        status = os.stat(copy)
        if status.st_size != len(data) or stat.S_IMODE(status.st_mode) != mode:
            return False
        with open(copy, "rb") as file:
            return file.read() == data
    except OSError:
        return False


def _write(beside: str, target: str, data: bytes, mode: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(beside)
    unnamed = open_unnamed(os.path.dirname(beside), 0o600)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o600) if unnamed is None else unnamed
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.chmod(beside if unnamed is None else descriptor, mode)
            os.fsync(descriptor)
            if unnamed is not None:
                give_name(descriptor, beside)
        replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _add_snapshot(found: dict[str, dict[str, Backup]], record: Record, cwd: str) -> None:
    snapshot, message = record.get("snapshot"), record.get("messageId")
    files = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
    if not isinstance(message, str) or not isinstance(files, dict):
        return
    read = {name: _backup(raw) for name, raw in files.items()}
    found.pop(message, None)
    found[message] = {_absolute(name, b, cwd): b for name, b in read.items() if b is not None}


def _add_delta(found: dict[str, dict[str, Backup]], record: Record, cwd: str) -> None:
    files = found.get(str(record.get("snapshotMessageId")))
    name, backup = record.get("trackingPath"), _backup(record.get("backup"))
    if files is not None and isinstance(name, str) and backup is not None:
        files.setdefault(_absolute(name, backup, cwd), backup)


def _backup(raw: Any) -> Backup | None:
    try:
        backup = msgspec.convert(raw, Backup)
    except msgspec.ValidationError:
        return None
    name = backup.backup_file_name
    # A name is joined to the folder of copies: it must not lead out of it.
    return backup if name is None or (name and os.path.basename(name) == name and name != "..") else None


def _absolute(name: str, backup: Backup, cwd: str) -> str:
    if backup.real_parent_dir:
        return os.path.join(backup.real_parent_dir, os.path.basename(name))
    return os.path.normpath(os.path.join(cwd, name))
