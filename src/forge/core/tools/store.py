"""Writes a file so that a reader sees the old or the new content, never half of it."""

from __future__ import annotations

import contextlib
import errno
import os

from forge.foundation.system.locks import copy_owner, give_name, open_unnamed, replace

# The directory does not take a new file, or the file is a mount point: only writing in place can work.
_NO_NEIGHBOUR = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS)


def write_atomically(path: str, data: bytes) -> os.stat_result:
    """Replaces or creates a file, with parents; keeps mode and owner; returns its new state."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        return _replace(path, data)
    except OSError as error:
        if error.errno not in _NO_NEIGHBOUR or not os.access(path, os.W_OK):
            raise
        return _overwrite(path, data)


def _replace(path: str, data: bytes) -> os.stat_result:
    beside = f"{path}.tmp.{os.getpid()}.{os.urandom(6).hex()}"
    unnamed = open_unnamed(os.path.dirname(path), 0o666)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o666) if unnamed is None else unnamed
    try:
        with open(descriptor, "wb", buffering=0) as file:
            _write_all(descriptor, data)
            with contextlib.suppress(FileNotFoundError):
                copy_owner(descriptor, os.stat(path))
            os.fsync(descriptor)
            status = os.fstat(file.fileno())
            if unnamed is not None:
                give_name(descriptor, beside)
        replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
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
