"""Landlock: which parts of the file system, which ports and which processes a command can reach.

Used by the keeper, so only light imports.
"""

from __future__ import annotations

import ctypes
import os
import stat

from forge.foundation.system.syscalls import system_call

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
READ = _EXECUTE | _READ_FILE | _READ_DIR
LIST = _READ_DIR
# The version of the kernel's interface that brought a right.
_SINCE = ((1, (1 << 13) - 1), (2, 1 << 13), (3, _TRUNCATE), (5, _IOCTL))
_BIND, _CONNECT = 1, 2
_SCOPED = 3


def landlock_version() -> int:
    """The version of the kernel's interface; OSError if there is none."""
    nothing = ctypes.c_void_p(None)
    return system_call("Landlock", _CREATE, nothing, ctypes.c_size_t(0), ctypes.c_uint32(1))


def restrict(rules: list[tuple[str, int]], *, no_network: bool) -> None:
    """Confines this process for good: paths with rights (-1: all), optionally without TCP."""
    version = landlock_version()
    handled = sum(bits for since, bits in _SINCE if version >= since)
    network = (_BIND | _CONNECT) if no_network and version >= 4 else 0
    attributes = (ctypes.c_uint64 * 3)(handled, network, _SCOPED if version >= 6 else 0)
    size = ctypes.c_size_t(24 if version >= 6 else 16 if version >= 4 else 8)
    flags = ctypes.c_uint32(0)
    ruleset = system_call("Landlock ruleset", _CREATE, ctypes.byref(attributes), size, flags)
    try:
        for path, rights in rules:
            _allow(ruleset, path, handled if rights < 0 else rights & handled)
        system_call("Landlock", _RESTRICT, ctypes.c_int(ruleset), flags)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what cannot be reached needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE
        packed = rights.to_bytes(8, "little") + descriptor.to_bytes(4, "little")
        kind, flags = ctypes.c_int(1), ctypes.c_uint32(0)
        system_call(f"Landlock rule {path}", _ADD, ctypes.c_int(ruleset), kind, packed, flags)
    finally:
        os.close(descriptor)
