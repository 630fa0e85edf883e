"""The thin end of the guard: asks the process that stays in memory, if there is one.

This is imported before every command of a foreign agent: it may import nothing that costs time.
"""

from __future__ import annotations

import _socket
import os
import sys

from forge.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What a judgement depends on.
NAMES = ("HOME", "USERPROFILE", "USER", "TMPDIR", "CLAUDE_CONFIG_DIR", "FORGE_HOME", "CLAUDE_PROJECT_DIR")
_PLACE = os.path.dirname(__file__)
_ENGINE = os.path.join(_PLACE, "..", "..", "core", "shell", "analysis")
NAME = "forgecmd"
_PATIENCE = 2.0
_LONGEST_PATH = 100
_BLOCK = 1 << 16


def _newest(*folder: str) -> int:
    """When the last file of a folder was changed. Folders do not count: Python keeps byte code in them."""
    with os.scandir(os.path.join(_ENGINE, *folder)) as files:
        return max(file.stat().st_mtime_ns for file in files if file.name.endswith((".py", ".json")))


# A process of another version, of another copy of this program or of older files must not decide.
STAMP = f"{NAME} {VERSION} {_PLACE} {max(_newest(), _newest('programs'), _newest('tables'))}"


def ask_daemon(raw: bytes, env: Mapping[str, str]) -> str | None:
    """The daemon's answer to an event; None if nobody, or nobody trustworthy, answers."""
    return _asked(STAMP, raw, env)


def end_daemon(env: Mapping[str, str]) -> None:
    """Has the daemon make room, as for another version."""
    _asked(f"{NAME} of another version", b"", env)


def _asked(stamp: str, raw: bytes, env: Mapping[str, str]) -> str | None:
    path = socket_path(env)
    if not path or not os.path.exists(path):
        return None
    plug = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        plug.settimeout(_PATIENCE)
        plug.connect(path)
        if peer_uid(plug) != os.getuid():
            return None
        head = "\0".join([stamp, *(f"{name}={env[name]}" for name in NAMES if name in env)])
        plug.sendall(os.fsencode(head) + b"\0\0" + raw)
        plug.shutdown(_socket.SHUT_WR)
        return _answer(_received(plug))
    except OSError:
        return None
    finally:
        plug.close()


def _received(plug: _socket.socket) -> bytes:
    blocks = []
    while block := plug.recv(_BLOCK):
        blocks.append(block)
    return b"".join(blocks)


def _answer(said: bytes) -> str | None:
    """Only what begins and ends as it should is whole."""
    whole = said[:1] == b"+" and said[-1:] == b"."
    return said[1:-1].decode("utf-8", "replace") if whole else None


def socket_path(env: Mapping[str, str]) -> str:
    """Where the daemon of this user listens; nothing where there cannot be one."""
    home = env.get("FORGE_HOME") or (f"{env['HOME']}/.forge" if env.get("HOME") else "")
    path = f"{home}/run/guard.sock"
    usable = os.path.isabs(path) and len(os.fsencode(path)) <= _LONGEST_PATH and hasattr(_socket, "AF_UNIX")
    return path if home and usable else ""


def peer_uid(plug: _socket.socket) -> int:
    """Who is on the other side; ourselves where the system cannot tell: the directory is private."""
    kind = getattr(_socket, "SO_PEERCRED", None)
    if kind is None:
        return os.getuid()
    credentials = plug.getsockopt(_socket.SOL_SOCKET, kind, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder)
