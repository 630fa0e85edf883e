"""Follows what a full-screen program has switched on in its terminal, to switch it off and on again."""

from __future__ import annotations

import re

_PRIVATE = re.compile(rb"\x1b\[\?([0-9;]{1,40})([hl])")
_KEYBOARD = re.compile(rb"\x1b\[([<>=])([0-9;]{0,20})([um])")
_LONGEST = 48
_SCREENS = (47, 1047, 1049)
_CURSOR = 25
# Application keys, mouse, focus, paste, colour scheme reports; and modes of screens and the cursor.
_FOLLOWED = {1, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2031, *_SCREENS, _CURSOR}


class Modes:
    """The modes a program is in, read from its output."""

    def __init__(self) -> None:
        self._on: set[int] = set()
        self._cursor_hidden = False
        self._keys: list[bytes] = []
        self._other_keys = b""
        self._tail = b""

    def follow(self, block: bytes) -> None:
        """Takes the next piece of output; sequences may be cut anywhere."""
        text = self._tail + block
        done = 0
        for match in sorted((*_PRIVATE.finditer(text), *_KEYBOARD.finditer(text)), key=lambda m: m.start()):
            done = match.end()
            if match.re is _PRIVATE:
                self._switch(match[1], on=match[2] == b"h")
            else:
                self._keyboard(match[1], match[2], match[3])
        start = text.rfind(b"\x1b", max(done, len(text) - _LONGEST))
        self._tail = text[start:] if start >= 0 else b""

    def leave(self) -> bytes:
        """What switches everything off."""
        parts = [b"\x1b[<u"] * len(self._keys)
        if self._other_keys:
            parts.append(b"\x1b[>4;0m")
        parts += [b"\x1b[?%dl" % mode for mode in sorted(self._on - {*_SCREENS})]
        parts += [b"\x1b[?%dl" % mode for mode in sorted(self._on & {*_SCREENS})]
        return b"".join(parts) + b"\x1b[?25h\x1b[0m"

    def enter(self) -> bytes:
        """What switches on again what the program believes to be on."""
        parts = [b"\x1b[?%dh" % mode for mode in sorted(self._on & {*_SCREENS})]
        parts += [b"\x1b[?%dh" % mode for mode in sorted(self._on - {*_SCREENS})]
        parts += [b"\x1b[>%su" % flags for flags in self._keys]
        if self._other_keys:
            parts.append(b"\x1b[>%sm" % self._other_keys)
        if self._cursor_hidden:
            parts.append(b"\x1b[?25l")
        return b"".join(parts)

    def _switch(self, numbers: bytes, *, on: bool) -> None:
        for number in (int(text) for text in numbers.split(b";") if text):
            if number == _CURSOR:
                self._cursor_hidden = not on
            elif number in _FOLLOWED and on:
                self._on.add(number)
            else:
                self._on.discard(number)

    def _keyboard(self, kind: bytes, numbers: bytes, final: bytes) -> None:
        if final == b"m":
            if kind == b">" and numbers.startswith(b"4"):
                self._other_keys = b"" if numbers in (b"4", b"4;0") else numbers
        elif kind == b">":
            self._keys.append(numbers or b"0")
        elif kind == b"<":
            del self._keys[-int(numbers or b"1") :]
