"""The output of the CLI as lines, and each line as a JSON object; whatever else is printed is counted."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON

Event = dict[str, Any]

CONSECUTIVE, SHARE_FROM = 20, 40

_decoder = msgspec.json.Decoder()


class Splitter:
    """Cuts a stream of bytes into lines. Only `\\n` ends a line: text may hold other line separators."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete now."""
        first, *others = chunk.split(b"\n")
        self._pieces.append(first)
        if not others:
            return []
        lines = [b"".join(self._pieces), *others[:-1]]
        self._pieces = [others[-1]]
        return lines

    def rest(self) -> list[bytes]:
        """What is left when the stream has ended, if anything."""
        last = b"".join(self._pieces)
        self._pieces = []
        return [last] if last else []


class Tally:
    """Counts the lines that could not be read; `broken` once they are too many to go on."""

    def __init__(self) -> None:
        self.lines = 0
        self.unread = 0
        self.broken = False
        self._row = 0

    def count(self, *, readable: bool) -> None:
        """One more line that is not blank."""
        self.lines += 1
        if readable:
            self._row = 0
        else:
            self.unread += 1
            self._row += 1
        if self.unread and (self._row > CONSECUTIVE or self._too_many()):
            self.broken = True

    def _too_many(self) -> bool:
        return self.lines >= SHARE_FROM and self.unread * 2 > self.lines


def decode(line: bytes) -> Event | None:
    """The object on a line, None if there is none."""
    try:
        value = _decoder.decode(line)
    except NOT_JSON:
        value = _decode_halves(line) if b"\\u" in line else None
    return value if type(value) is dict else None


def _decode_halves(line: bytes) -> Any:
    """Reads a line with half a surrogate pair, which a piece of streamed text may begin or end with."""
    try:
        value = json.loads(line, parse_constant=_refuse)
        return _mended(value)
    except (ValueError, RecursionError):
        return None


def _mended(value: Any, key: str = "") -> Any:
    """The value without half characters, except in streamed text, where the other half is still to come."""
    if type(value) is str:
        return value if key in ("text_delta", "thinking_delta") else whole_text(value)
    if type(value) is list:
        return [_mended(item) for item in value]
    if type(value) is dict:
        kind = value.get("type")
        inner = kind if type(kind) is str else ""
        return {whole_text(name): _mended(item, inner) for name, item in value.items()}
    return value


def whole_text(text: str) -> str:
    """The text with its surrogate pairs joined and what cannot be joined replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse(word: str) -> None:
    raise ValueError(word)
