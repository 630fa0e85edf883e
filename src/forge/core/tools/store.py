"""Writes a file so that a reader sees the old or the new content, never half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

# The directory does not take a new file, or the file is a mount point: only writing in place can work.
_NO_NEIGHBOUR = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS)


def write_atomically(path: str, data: bytes) -> os.stat_result:
    """Replaces or creates a file, with parents; keeps mode and owner; returns its new state."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    old = _status(path)
    try:
        return _replace(path, data, old)
    except OSError as error:
        if old is None or error.errno not in _NO_NEIGHBOUR or not os.access(path, os.W_OK):
            raise
        return _overwrite(path, data)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _replace(path: str, data: bytes, old: os.stat_result | None) -> os.stat_result:
    temporary = f"{path}.tmp.{os.getpid()}.{os.urandom(6).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            _write_all(descriptor, data)
            if old is not None:
                _like(temporary, old)
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return status


def _overwrite(path: str, data: bytes) -> os.stat_result:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _like(path: str, old: os.stat_result) -> None:
    new = os.stat(path)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) and hasattr(os, "chown"):
        # Only the superuser may give files away; the content matters more than the owner.
        with contextlib.suppress(OSError):
            os.chown(path, old.st_uid, old.st_gid)
    os.chmod(path, stat.S_IMODE(old.st_mode))
