"""Server-sent events: bytes in any pieces in, the data of whole events out."""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


class Parser:
    """One stream's pieces. Event names are not kept: every protocol repeats them in the data."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._after_cr = False
        self._first = True

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of each event this piece completes."""
        if self._after_cr or b"\r" in piece:
            piece = self._only_newlines(piece)
        self._pieces.append(piece)
        # An event ends at an empty line: without a line end here there is nothing new to find.
        if b"\n" not in piece:
            return []
        *frames, rest = b"".join(self._pieces).split(b"\n\n")
        self._pieces = [rest]
        return self._read(frames)

    def end(self) -> list[bytes]:
        """What is left when the stream ends without a final empty line."""
        rest = b"".join(self._pieces)
        self._pieces = []
        return self._read([rest])

    def _only_newlines(self, piece: bytes) -> bytes:
        # CR LF may be cut in two by the transport; the CR has then been taken as a line end already.
        if self._after_cr:
            piece = piece.removeprefix(b"\n")
        self._after_cr = piece.endswith(b"\r") if piece else False
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _read(self, frames: list[bytes]) -> list[bytes]:
        if self._first and frames:
            self._first = False
            frames[0] = frames[0].removeprefix(_BOM)
        return [data for frame in frames if (data := _data(frame))]


def _data(frame: bytes) -> bytes:
    """The joined data lines of one event; b"" for comments and empty events."""
    found: bytes | None = None
    for line in frame.split(b"\n"):
        if line.startswith(b"data:"):
            value = line[6:] if line[5:6] == b" " else line[5:]
            found = value if found is None else found + b"\n" + value
    return found or b""
