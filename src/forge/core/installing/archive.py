"""Unpacks zip and tar archives from strangers: nothing lands outside, nothing is linked, sizes are capped."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

import msgspec

from forge.core.plugins.context import PluginFailure

MOST_BYTES = 256 << 20
MOST_FILES = 20_000


class Member(msgspec.Struct, frozen=True):
    """One regular file of an archive."""

    path: str
    executable: bool
    size: int
    content: IO[bytes]


def unpack(data: bytes, target: str, *, most: int = MOST_BYTES) -> None:
    """Writes the files of an archive below `target`; PluginFailure as soon as one is not acceptable."""
    os.makedirs(target, exist_ok=True)
    left, count = most, 0
    try:
        for member in _zip(data) if data.startswith(b"PK") else _tar(data):
            count += 1
            if count > MOST_FILES:
                raise _bad(f"it has more than {MOST_FILES} files")
            left -= _write(member, target, left)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError) as error:
        raise _bad(f"it cannot be read ({error})") from None
    except (RuntimeError, UnicodeError, ValueError) as error:
        raise _bad(f"it cannot be used ({error})") from None


def only_folder(directory: str) -> str:
    """The one folder an archive may have wrapped its content in, else the directory itself."""
    names = [name for name in os.listdir(directory) if name != "__MACOSX"]
    inner = os.path.join(directory, names[0]) if len(names) == 1 else ""
    # A plugin of nothing but one component folder is not wrapped.
    wrapped = inner and os.path.isdir(inner) and names[0] not in _OWN_FOLDERS
    return inner if wrapped else directory


_OWN_FOLDERS = frozenset(
    (".claude-plugin", ".forge-plugin", "skills", "commands", "agents", "hooks", "output-styles")
)


def safe_parts(name: str) -> list[str]:
    """The parts of a relative path that stays where it is; PluginFailure for every other."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    outside = (
        name.startswith(("/", "\\")) or ".." in parts or any(":" in part or "\0" in part for part in parts)
    )
    if outside or not parts:
        raise _bad(f"it has a file that would be written outside: {name!r}")
    return parts


def _zip(data: bytes) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            mode = entry.external_attr >> 16
            if stat.S_ISLNK(mode):
                raise _bad(f"it has a symbolic link: {entry.filename!r}")
            if entry.is_dir():
                continue
            with archive.open(entry) as content:
                yield Member(entry.filename, bool(mode & 0o100), entry.file_size, content)


def _tar(data: bytes) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for entry in archive:
            if entry.isdir() or entry.type in (tarfile.XHDTYPE, tarfile.XGLTYPE):
                continue
            content = archive.extractfile(entry) if entry.isfile() else None
            if content is None:
                raise _bad(f"it has something that is no plain file: {entry.name!r}")
            yield Member(entry.name, bool(entry.mode & 0o100), entry.size, content)


def _write(member: Member, target: str, left: int) -> int:
    """Writes one file and returns its size, measured while reading: headers may lie."""
    parts = safe_parts(member.path)
    if member.size > left:
        raise _bad("it is too large")
    path = os.path.join(target, *parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    size = 0
    # O_EXCL: an archive that names a file twice is refused rather than trusted about which one counts.
    try:
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755 if member.executable else 0o644
        )
    except OSError as error:
        raise _bad(f"{member.path!r} cannot be written ({error.strerror})") from None
    with open(descriptor, "wb") as file:
        while piece := member.content.read(1 << 16):
            size += len(piece)
            if size > left:
                raise _bad("it is too large")
            file.write(piece)
    return size


def _bad(reason: str) -> PluginFailure:
    return PluginFailure(f"The archive was refused: {reason}.", "error_policy")
