"""System calls that Python has no function for. Used by the keeper, so only light imports."""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
_CLONE = {"x86_64": 56, "aarch64": 220}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY = 1
_CAPABILITY_VERSION = 0x20080522


def machine() -> str:
    """The processor architecture, as the tables of system calls name it."""
    return os.uname().machine if hasattr(os, "uname") else ""


@lru_cache(maxsize=1)
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    library.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    library.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
    return library


def system_call(what: str, number: int, *arguments: object) -> int:
    """The result of a system call; OSError that names it."""
    return checked(what, libc().syscall(ctypes.c_long(number), *arguments))


def checked(what: str, result: int) -> int:
    """The result of a C function; OSError with its error number if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int, address: int = 0) -> None:
    """Changes something about this process."""
    checked(f"prctl({option})", libc().prctl(option, value, address, 0, 0))


def clone(flags: int) -> int:
    """Forks into new namespaces; 0 in the child. Only for a process with one thread."""
    zero = ctypes.c_ulong(0)
    return system_call("clone", _CLONE[machine()], ctypes.c_ulong(flags | 17), zero, zero, zero, zero)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mounts something."""
    words = [text.encode() or None for text in (source, target, kind, options)]
    checked(f"mount {target}", libc().mount(words[0], words[1], words[2], flags, words[3]))


def set_read_only(path: str, *, on: bool, recursive: bool) -> None:
    """Makes a mount read-only or writable."""
    attributes = (ctypes.c_uint64 * 4)(_ATTR_RDONLY if on else 0, 0 if on else _ATTR_RDONLY, 0, 0)
    how = ctypes.c_uint(_AT_RECURSIVE if recursive else 0)
    what = f"mount_setattr {path}"
    directory = ctypes.c_int(_AT_FDCWD)
    size = ctypes.c_size_t(32)
    system_call(what, _MOUNT_SETATTR, directory, path.encode(), how, ctypes.byref(attributes), size)


def drop_capabilities() -> None:
    """Gives up every capability; with no_new_privs no program can get one back."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    system_call("capset", _CAPSET[machine()], ctypes.byref(header), ctypes.byref(nothing))
