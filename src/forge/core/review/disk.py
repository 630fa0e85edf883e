"""One path of the work tree: what is there, and how to make it be something else without following links."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress

import msgspec

from forge.foundation.errors import ForgeError

ABSENT, FILE, SYMLINK, DIRECTORY, OTHER = "absent", "file", "link", "directory", "other"
# Permission bits of a file that was not there before: what the user's mask leaves of the usual ones.
NEW, NEW_EXECUTABLE = -1, -2
_BITS = 0o7777
_NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Entry(msgspec.Struct, frozen=True):
    """What a path holds. `mode` are its permission bits. `owner` is (-1, -1) for the current user.

    `stamp` changes whenever somebody writes; it is empty for what has not been read from disk.
    """

    kind: str = ABSENT
    content: bytes = b""
    mode: int = NEW
    owner: tuple[int, int] = (-1, -1)
    links: int = 1
    stamp: tuple[int, ...] = ()

    @property
    def digest(self) -> str:
        """The content in short; empty where there is none."""
        return hashlib.sha256(self.content).hexdigest() if self.kind in (FILE, SYMLINK) else ""

    @property
    def is_executable(self) -> bool:
        """As git sees it: by the owner."""
        by_owner = self.mode == NEW_EXECUTABLE or (self.mode >= 0 and bool(self.mode & 0o100))
        return self.kind == FILE and by_owner


def look(root: str, path: str) -> Entry:
    """What is at a path now. Nothing is, if the way there goes through a link."""
    target = os.path.join(root, path)
    try:
        found = os.lstat(target)
        if is_behind_link(root, path):
            return Entry()
        if stat.S_ISLNK(found.st_mode):
            return Entry(SYMLINK, os.fsencode(os.readlink(target)), stamp=_stamp(found))
        if stat.S_ISDIR(found.st_mode):
            return Entry(DIRECTORY, mode=found.st_mode & _BITS)
        if not stat.S_ISREG(found.st_mode):
            return Entry(OTHER)
        with open(os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
            found = os.fstat(file.fileno())
            owner = found.st_uid, found.st_gid
            return Entry(FILE, file.read(), found.st_mode & _BITS, owner, found.st_nlink, _stamp(found))
    except OSError as error:
        if error.errno in _NOTHING:
            return Entry()
        raise ForgeError(f"{path}: cannot be read: {error.strerror}") from error


def is_untouched(root: str, path: str, entry: Entry) -> bool:
    """Whether a path still is as it was when it was looked at."""
    try:
        found = os.lstat(os.path.join(root, path))
    except OSError:
        return entry.kind in (ABSENT, DIRECTORY)  # a directory goes when its last file goes
    if is_behind_link(root, path):
        return entry.kind == ABSENT
    return stat.S_ISDIR(found.st_mode) if entry.kind == DIRECTORY else _stamp(found) == entry.stamp


def is_behind_link(root: str, path: str) -> bool:
    """Whether the way to a path goes through a link: git then says that nothing is there."""
    directory = os.path.dirname(path)
    while directory:
        if os.path.islink(os.path.join(root, directory)):
            return True
        directory = os.path.dirname(directory)
    return False


def with_bits(like: Entry, executable: bool) -> int:
    """The permission bits of a file with only its executable bits changed."""
    if like.kind != FILE:
        return NEW_EXECUTABLE if executable else NEW
    if like.is_executable == executable:
        return like.mode
    return like.mode | (like.mode & 0o444) >> 2 if executable else like.mode & ~0o111


def prepare(root: str, path: str, entry: Entry, name: str) -> str:
    """Writes what a path shall hold into a file of that name beside it, and returns where that is."""
    beside = os.path.join(_existing_directory(root, path), name)
    try:
        if entry.kind == SYMLINK:
            os.symlink(entry.content, os.fsencode(beside))
            return beside
        usual = 0o777 if entry.mode == NEW_EXECUTABLE else 0o666
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, usual), "wb") as file:
            file.write(entry.content)
            if entry.mode >= 0:
                _set_owner(file.fileno(), entry)
    except BaseException:
        discard(beside)
        raise
    return beside


def place(root: str, path: str, entry: Entry, prepared: str, in_place: bool) -> None:
    """Puts what was prepared where it belongs; directories are made, and empty ones give way.

    With `in_place` the file keeps its identity, because it has other names that must see the change too.
    """
    target = os.path.join(root, path)
    if in_place:
        with open(os.open(target, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW), "wb") as file:
            file.write(entry.content)
            if entry.mode >= 0:
                os.fchmod(file.fileno(), entry.mode)
        discard(prepared)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    _remove_empty(target)
    os.replace(prepared, target)


def remove(root: str, path: str) -> None:
    """Takes a file or link away, and the directories that are empty without it."""
    target = os.path.join(root, path)
    discard(target)
    directory = os.path.dirname(target)
    while len(directory) > len(root):
        try:
            os.rmdir(directory)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                return
        directory = os.path.dirname(directory)


def discard(path: str) -> None:
    """Removes a file if it is there."""
    if path:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.remove(path)


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def _existing_directory(root: str, path: str) -> str:
    directory = os.path.dirname(os.path.join(root, path))
    while len(directory) > len(root) and (os.path.islink(directory) or not os.path.isdir(directory)):
        directory = os.path.dirname(directory)
    return directory


def _set_owner(descriptor: int, entry: Entry) -> None:
    found = os.fstat(descriptor)
    if entry.owner not in ((-1, -1), (found.st_uid, found.st_gid)):
        with suppress(PermissionError):  # not ours to give away: the content matters more
            os.fchown(descriptor, *entry.owner)
    os.fchmod(descriptor, entry.mode)


def _remove_empty(target: str) -> None:
    """A directory in the way holds only empty directories: the plan has made sure of it."""
    if os.path.islink(target) or not os.path.isdir(target):
        return
    for directory, _, _ in os.walk(target, topdown=False):
        os.rmdir(directory)
