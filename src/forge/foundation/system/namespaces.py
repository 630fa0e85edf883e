"""Own user, mount, process and network namespaces for a command. Used by the keeper: light imports."""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
from contextlib import suppress

from forge.foundation.system.syscalls import mount, set_read_only

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_SIOCSIFFLAGS, _UP = 0x8914, 1
_WRITABLE_DEVICES = ("/dev/pts", "/dev/shm", "/dev/mqueue")


def namespace_flags(*, network: bool) -> int:
    """The flags for a clone into new namespaces; `network`: also without the network of the machine."""
    return _NEWNS | _NEWIPC | _NEWUSER | _NEWPID | (_NEWNET if network else 0)


def map_user(user: int, group: int) -> None:
    """Makes this process the same user inside its new user namespace."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def raise_loopback() -> None:
    """Lets programs in a new network namespace talk to each other."""
    plug = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(plug.fileno(), _SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + _UP.to_bytes(24, "little"))
    plug.close()


def arrange_mounts(write: list[str], protect: list[str], hide: list[str], *, fresh_proc: bool) -> None:
    """Everything is read-only but `write`; in it `protect` is read-only; `hide` is empty."""
    mount("", "/", "", _REC | _PRIVATE)
    write = [path for path in write if os.path.exists(path)]
    for path in write:
        mount(path, path, "", _BIND | _REC)
    set_read_only("/", on=True, recursive=True)
    for path in write:
        _make_writable(path)
    for path in _WRITABLE_DEVICES:
        with suppress(OSError):  # not every machine has each of them as a mount of its own
            set_read_only(path, on=False, recursive=False)
    _protect([path for path in protect if os.path.lexists(path)], write)
    for path in hide:
        _hide(path)
    if fresh_proc:
        mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)


def _protect(paths: list[str], write: list[str]) -> None:
    """Makes paths read-only; what contains them cannot be moved away to put something else in their place."""
    held: set[str] = set()
    for path in paths:
        parent = os.path.dirname(path)
        while any(parent.startswith(root.rstrip("/") + "/") for root in write):
            held.add(parent)
            parent = os.path.dirname(parent)
    # From the top, or a mount would hide those below it.
    for directory in sorted(held):
        mount(directory, directory, "", _BIND)
    for path in paths:
        mount(path, path, "", _BIND)
        set_read_only(path, on=True, recursive=False)


def _make_writable(path: str) -> None:
    try:
        set_read_only(path, on=False, recursive=True)
    except PermissionError:
        # Something mounted below was read-only before and stays so.
        set_read_only(path, on=False, recursive=False)


def _hide(path: str) -> None:
    try:
        if os.path.isdir(path):
            mount("tmpfs", path, "tmpfs", _RDONLY | _NOSUID | _NODEV | _NOEXEC, "size=4k,mode=0555")
        elif os.path.exists(path):
            mount("/dev/null", path, "", _BIND)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES):  # what cannot be reached is hidden enough
            raise
