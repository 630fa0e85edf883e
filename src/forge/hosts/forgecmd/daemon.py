"""The guard that stays in memory: answers events on a private socket until nobody has asked for a while."""

from __future__ import annotations

import os
import socket
import stat
import sys

from forge.foundation.system.locks import try_lock, unlock
from forge.hosts.forgecmd.client import NAME, STAMP, peer_uid, socket_path
from forge.hosts.forgecmd.hook import answer
from forge.hosts.forgecmd.judging import Past, warm_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE_SECONDS = 600.0
_LOOK_SECONDS = 20.0
_CLIENT_SECONDS = 1.0
_MOST_BYTES = 16 << 20
_MOST_SESSIONS = 32
_PROGRAM = (
    "import sys; sys.path[:0] = {path!r}\nfrom forge.hosts.forgecmd.daemon import serve\nserve({socket!r})"
)


def start(env: Mapping[str, str]) -> bool:
    """Starts the daemon in the background; False where there can be none. It does not wait for it."""
    path = socket_path(env)
    if not path or not hasattr(os, "posix_spawn"):
        return False
    code = _PROGRAM.format(path=sys.path, socket=path)
    argv = ["/bin/sh", "-c", 'cd / && exec "$@"', "sh", sys.executable, "-S", "-c", code]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    try:
        os.posix_spawn("/bin/sh", argv, {"PATH": os.defpath}, file_actions=null, setsid=True)
    except (OSError, NotImplementedError):
        return False
    return True


def serve(path: str, idle: float = IDLE_SECONDS) -> bool:
    """Answers until nobody has asked for `idle` seconds; False if another daemon does that already."""
    folder = os.path.dirname(path)
    _make_private(folder)
    lock = try_lock(folder)
    if lock is None:
        return False
    try:
        _serve(_listener(path), path, idle)
    finally:
        unlock(lock)
    return True


def _make_private(folder: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    os.chmod(folder, 0o700)


def _listener(path: str) -> socket.socket:
    """Whoever holds the lock knows that a socket in this place is a left-over."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.path.lexists(path):
        os.unlink(path)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(64)
    return listener


def _serve(listener: socket.socket, path: str, idle: float) -> None:
    own = os.stat(path).st_ino
    warm_up()
    pasts = Pasts()
    waited = 0.0
    step = min(idle, _LOOK_SECONDS)
    listener.settimeout(step)
    going = True
    while going and waited < idle:
        try:
            plug, _ = listener.accept()
        except TimeoutError:
            waited += step
            # Somebody took our place away: nobody can ask us any more.
            going = os.path.exists(path) and os.stat(path).st_ino == own
            continue
        waited = 0.0
        going = _attend(plug, pasts)
    listener.close()
    if os.path.exists(path) and os.stat(path).st_ino == own:
        os.unlink(path)


def _attend(plug: socket.socket, pasts: Pasts) -> bool:
    """Answers one client; False if it is of another version, for which this process makes room."""
    with plug:
        plug.settimeout(_CLIENT_SECONDS)
        try:
            if peer_uid(plug) != os.getuid():
                return True
            head, _, raw = _received(plug).partition(b"\0\0")
            stamp, *pairs = os.fsdecode(head).split("\0")
            if stamp != STAMP:
                return not stamp.startswith(f"{NAME} ")
            env = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            plug.sendall(b"+" + answer(raw, env, recall=pasts.of).encode() + b".")
        except OSError:
            return True  # the client has gone, or says nothing; it will decide for itself
    return True


def _received(plug: socket.socket) -> bytes:
    blocks: list[bytes] = []
    size = 0
    while size < _MOST_BYTES and (block := plug.recv(1 << 16)):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


class Pasts:
    """What the commands of the last sessions wrote and downloaded."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[str, Past] = {}

    def of(self, session: str) -> Past:
        """The past of a session; nothing is remembered of commands without one."""
        past = self._kept.pop(session, None) or Past()
        if session:
            self._kept[session] = past
            while len(self._kept) > _MOST_SESSIONS:
                del self._kept[next(iter(self._kept))]
        return past
