"""File locks, atomic replacement and fixed directories on Linux and macOS."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from contextlib import suppress

MANAGED_DIRS = (
    [f"/Library/Application Support/{name}" for name in ("ClaudeCode", "ForgeCode", "Forge")]
    if sys.platform == "darwin"
    else [f"/etc/{name}" for name in ("claude-code", "forgecode", "forge")]
)

DEFAULT_TEMP = "/tmp"

# Network file systems answer this way when asked to lock a directory.
_NO_DIRECTORY_LOCK = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP}


def try_lock(directory: str) -> int | None:
    """The descriptor that holds the lock of a directory, or None while another process has it."""
    # The directory itself is locked, so that no lock file is left in the user's repository.
    return _try(os.open(directory, os.O_RDONLY | os.O_CLOEXEC), directory)


def unlock(descriptor: int) -> None:
    """Gives the lock back."""
    os.close(descriptor)


def replace(source: str, target: str) -> None:
    """Puts `source` in the place of `target` in one step that survives a power failure."""
    os.replace(source, target)
    descriptor = os.open(os.path.dirname(target), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems cannot sync a directory; the replacement itself is done
    finally:
        os.close(descriptor)


def open_unnamed(directory: str, mode: int) -> int | None:
    """A new file that has no name yet: a process that is killed leaves nothing of it. None if impossible."""
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(directory, flag | os.O_WRONLY | os.O_CLOEXEC, mode)
    except OSError:
        return None  # the file system cannot do it, or refuses any file here: opening one by name will tell


def give_name(descriptor: int, path: str) -> None:
    """Gives a file that was opened without a name its name, which must be free."""
    # Only with a directory descriptor does Python follow the link to the file; the path needs none.
    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)


def copy_owner(descriptor: int, old: os.stat_result) -> None:
    """Gives the new file the mode and, as far as allowed, the owner of the old one."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        # Not our file to give away: the content matters more than the owner.
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, old.st_mode & 0o7777)


def _try(descriptor: int, directory: str) -> int | None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return None
        if error.errno in _NO_DIRECTORY_LOCK and directory:
            lock_file = os.path.join(directory, ".forge.lock")
            return _try(os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "")
        raise
    return descriptor
