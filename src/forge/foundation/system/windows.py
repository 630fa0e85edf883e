"""File locks, atomic replacement and fixed directories on Windows."""

from __future__ import annotations

import msvcrt
import os
import sys
import time

assert sys.platform == "win32"  # lets the type checker skip this module elsewhere

MANAGED_DIRS = [rf"C:\Program Files\{name}" for name in ("ClaudeCode", "ForgeCode", "Forge")]

DEFAULT_TEMP = r"C:\Windows\Temp"


def try_lock(directory: str) -> int | None:
    """The descriptor that holds the lock of a directory, or None while another process has it."""
    descriptor = os.open(os.path.join(directory, ".forge.lock"), os.O_RDWR | os.O_CREAT)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def unlock(descriptor: int) -> None:
    """Gives the lock back."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    os.close(descriptor)


def replace(source: str, target: str) -> None:
    """Puts `source` in the place of `target`; a reader that holds the file open is waited for."""
    for attempt in range(50):
        try:
            return os.replace(source, target)
        except PermissionError:
            if attempt == 49:
                raise
            time.sleep(0.02)


def open_unnamed(directory: str, mode: int) -> int | None:
    """Files of Windows have names from the beginning."""
    return None


def give_name(descriptor: int, path: str) -> None:
    """Never needed, see `open_unnamed`."""
    raise NotImplementedError(path)


def copy_owner(descriptor: int, old: os.stat_result) -> None:
    """Windows keeps access rights on the directory; nothing to copy."""
