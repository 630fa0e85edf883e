"""The wire format of HTTP/1.1 answers as pure functions and small decoders: bytes in, bytes out."""

from __future__ import annotations

from typing import Protocol

import msgspec

_MAX_SIZE_LINE = 1024


class BadAnswer(Exception):
    """The peer does not speak HTTP/1.1 properly."""


class Head(msgspec.Struct, frozen=True):
    """Status line and headers of an answer; names in lower case, repeated ones joined."""

    status: int
    reason: str
    headers: dict[str, str]
    keeps_open: bool


class Framing(Protocol):
    """Takes what arrives and gives the body out; `done` when the body is complete."""

    done: bool
    surplus: bool

    def feed(self, data: bytes) -> bytes: ...

    def end(self) -> None:
        """The connection was closed by the peer; raises `BadAnswer` if that is too early."""
        ...


def parse_head(raw: bytes) -> Head:
    """Reads everything up to the empty line."""
    lines = raw.decode("latin-1").split("\r\n")
    version, _, rest = lines[0].partition(" ")
    code, _, reason = rest.partition(" ")
    if not version.startswith("HTTP/1.") or len(code) != 3 or not code.isdecimal():
        raise BadAnswer("it did not answer in HTTP/1.1")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            continue
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    connection = headers.get("connection", "").lower()
    keeps = "close" not in connection if version != "HTTP/1.0" else "keep-alive" in connection
    return Head(int(code), reason.strip(), headers, keeps)


def framing_of(head: Head) -> Framing:
    """Chooses how the end of the body is found."""
    if head.status in (204, 304):
        return Sized(0)
    if "chunked" in head.headers.get("transfer-encoding", "").lower():
        return Chunked()
    length = head.headers.get("content-length")
    if length is None:
        return UntilClose()
    first = length.partition(",")[0].strip()
    if not first.isdecimal():
        raise BadAnswer("its Content-Length is not a number")
    return Sized(int(first))


class Sized:
    """A body of known length."""

    def __init__(self, size: int) -> None:
        self._missing = size
        self.done = size == 0
        self.surplus = False

    def feed(self, data: bytes) -> bytes:
        body = data[: self._missing]
        self._missing -= len(body)
        self.done = self._missing == 0
        self.surplus = len(body) < len(data)
        return body

    def end(self) -> None:
        raise BadAnswer(f"the connection was closed with {self._missing} bytes missing")


class UntilClose:
    """A body that ends with the connection."""

    def __init__(self) -> None:
        self.done = False
        self.surplus = True

    def feed(self, data: bytes) -> bytes:
        return data

    def end(self) -> None:
        self.done = True


class Chunked:
    """Chunked transfer coding; extensions and trailers are skipped."""

    def __init__(self) -> None:
        self._buffer = b""
        self._missing = 0
        self._trailer = False
        self.done = False
        self.surplus = False

    def feed(self, data: bytes) -> bytes:
        # The usual case by far: the middle of one big chunk.
        if not self._buffer and len(data) < self._missing:
            self._missing -= len(data)
            return data
        self._buffer += data
        pieces: list[bytes] = []
        position = 0
        while not self.done:
            used, piece = self._step(position)
            if piece:
                pieces.append(piece)
            if not used:
                break
            position += used
        self._buffer = self._buffer[position:]
        self.surplus = self.done and bool(self._buffer)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def end(self) -> None:
        raise BadAnswer("the connection was closed in the middle of the answer")

    def _step(self, at: int) -> tuple[int, bytes]:
        """Bytes consumed at a position (0: more input needed) and body bytes found there."""
        if self._missing:
            piece = self._buffer[at : at + self._missing]
            self._missing -= len(piece)
            return len(piece), piece
        end = self._buffer.find(b"\n", at)
        if end < 0:
            if len(self._buffer) - at > _MAX_SIZE_LINE:
                raise BadAnswer("a chunk size line is too long")
            return 0, b""
        self._line(self._buffer[at:end].strip())
        return end + 1 - at, b""

    def _line(self, line: bytes) -> None:
        if self._trailer:
            self.done = not line
            return
        # The line end after a chunk's data looks like an empty size line.
        if not line:
            return
        digits = line.partition(b";")[0].strip()
        if digits.strip(b"0123456789abcdefABCDEF") or not digits:
            raise BadAnswer("a chunk size is not a number")
        self._missing = int(digits, 16)
        self._trailer = self._missing == 0
