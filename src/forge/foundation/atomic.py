"""Writes text files: readers see the old or the new content, never a part; no writer loses another's work."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from forge.foundation.errors import ConfigError
from forge.foundation.own_writes import announce
from forge.foundation.system.locks import copy_owner, locked, replace


def read_text(path: str) -> str:
    """The text of a file; bytes that are not UTF-8 survive a later write, a byte order mark is kept."""
    with open(path, "rb") as file:
        return decode(file.read())


def decode(data: bytes) -> str:
    """Bytes to text: UTF-8, or UTF-16 when the file starts with its mark (some editors on Windows)."""
    return data.decode(*_codec(data))


def encode(text: str, like: bytes) -> bytes:
    """Text to bytes in the encoding of the old content."""
    return text.encode(*_codec(like))


def _codec(data: bytes) -> tuple[str, str]:
    if data.startswith(b"\xff\xfe") and len(data) % 2 == 0:
        return "utf-16-le", "surrogatepass"
    return "utf-8", "surrogateescape"


def update_text(path: str, change: Callable[[str], str], *, private: bool = True) -> bool:
    """Replaces the text of a file by `change(text)` under a lock; False when nothing changed.

    A missing file counts as empty and is created with its directories, readable by the owner only when
    `private`. A symbolic link stays one: its target is replaced.
    """
    target = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(target), mode=0o700 if private else 0o777, exist_ok=True)
        with locked(os.path.dirname(target)):
            old = _read_old(target)
            data = encode(change(decode(old)), old)
            if data == old:
                return False
            announce(target)
            _write(target, data, 0o600 if private else 0o666)
            return True
    except TimeoutError as error:
        raise ConfigError("is being written by another process", path=path, hint="Try again.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot write: {reason}; the file is unchanged", path=path) from error


def _read_old(target: str) -> bytes:
    try:
        with open(target, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _write(target: str, data: bytes, mode: int) -> None:
    directory, name = os.path.split(target)
    # One fixed name: the lock keeps others away, and what a crash leaves is reused by the next write.
    beside = os.path.join(directory, f".{name}.forge-new")
    _remove(beside)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(descriptor, "wb") as file:
            if os.path.exists(target):
                copy_owner(file.fileno(), os.stat(target))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        replace(beside, target)
    except BaseException:
        _remove(beside)
        raise


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.remove(path)
