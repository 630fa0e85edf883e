"""The messages between a hook and a screen: one JSON object per line on a UNIX socket.

screen → hook: `hello` (with its process number), `finished` (the decisions are in the review's directory),
`left` (nothing decided, the draft is kept). hook → screen: `taken`, `moved` (another screen has the review).
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress

import msgspec

from forge.foundation.encode import NOT_JSON

HELLO, FINISHED, LEFT, TAKEN, MOVED, OPEN, OPENED = (
    "hello",
    "finished",
    "left",
    "taken",
    "moved",
    "open",
    "opened",
)
_MOST = 1 << 16


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message. `review` is the directory of a review."""

    type: str
    pid: int = 0
    review: str = ""


class Plug:
    """One end of a connection; messages are cut at line ends."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""
        self.open = True
        connection.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Sends a message; a peer that is gone will be noticed by whoever reads."""
        try:
            self._socket.sendall(msgspec.json.encode(message) + b"\n")
        except OSError:
            self.open = False

    def receive(self) -> list[Message]:
        """The messages that have arrived. `open` is False when the other side is gone."""
        try:
            block = self._socket.recv(_MOST)
        except BlockingIOError:
            return []
        except OSError:
            block = b""
        if not block:
            self.open = False
        *lines, self._rest = (self._rest + block).split(b"\n")
        if len(self._rest) > _MOST:
            self.open = False
        return [message for line in lines if (message := _decoded(line)) is not None]

    def close(self) -> None:
        self.open = False
        self._socket.close()


def _decoded(line: bytes) -> Message | None:
    try:
        return msgspec.json.decode(line, type=Message)
    except NOT_JSON:
        return None  # from a newer program; what is not understood changes nothing


def connect(path: str) -> Plug | None:
    """A connection to whoever listens at `path`; None if nobody does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(2.0)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return Plug(connection)


def listen(path: str) -> socket.socket:
    """Listens at `path`, in place of one that died there. Raises OSError."""
    beside = f"{path}+"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        listener.bind(beside)
        listener.listen(8)
        # In one step, so that nobody finds a socket that does not listen yet.
        os.replace(beside, path)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
