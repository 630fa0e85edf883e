"""Linux tells when something happens in a directory; through the C library, as Python has no call for it."""

from __future__ import annotations

import asyncio
import ctypes
import os
import struct
from collections.abc import Callable, Iterable

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED, _CREATE, _DELETE = 0x40 | 0x80, 0x100, 0x200
_SELF = 0x400 | 0x800
_IGNORED, _ONLY_DIRECTORIES = 0x8000, 0x1000000
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF | _ONLY_DIRECTORIES
_HEAD = struct.Struct("iIII")
_BUFFER = 65_536


class Inotify:
    """Calls `wake` when something happens in one of the followed directories."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._wake = wake
        self._numbers: dict[str, int] = {}
        self._descriptor = int(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1 failed")
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._descriptor, self._read)

    def follow(self, folders: Iterable[str]) -> bool:
        """Follows exactly these directories; false if the system does not want to follow them all."""
        wanted = set(folders)
        for folder in [f for f in self._numbers if f not in wanted]:
            self._libc.inotify_rm_watch(self._descriptor, self._numbers.pop(folder))
        complete = True
        for folder in wanted - set(self._numbers):
            number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _MASK)
            if number < 0:
                complete = False
            else:
                self._numbers[folder] = number
        return complete

    def close(self) -> None:
        """Follows nothing any more."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, _BUFFER)
        except OSError:
            return
        at = 0
        while at + _HEAD.size <= len(data):
            number, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size + length
            if mask & _IGNORED:
                # The directory is gone; one of the same name would be another.
                self._numbers = {f: n for f, n in self._numbers.items() if n != number}
        self._wake()
