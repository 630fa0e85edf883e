"""Lines as they can be shown: tabs expanded, control characters visible, hidden characters named."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec
from rich.cells import cell_len, split_graphemes

TAB = 4
# Of longer lines the rest is only counted.
LONGEST = 4000
# Direction marks and characters without a width can make code look like other code.
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_JOINERS = "\u200c\u200d"
_SPECIAL = re.compile(f"[\0-\x1f\x7f-\x9f{_HIDDEN}{_JOINERS}\ud800-\udfff]")


class Shown(msgspec.Struct, frozen=True):
    """A line as it is shown. `offsets` gives the place of each original character, None when nothing moved;
    `flags` are the parts that stand for something hidden."""

    text: str
    offsets: tuple[int, ...] | None = None
    flags: tuple[tuple[int, int], ...] = ()

    def place(self, index: int) -> int:
        """Where an original character is shown; beyond the end, where the text ends."""
        if self.offsets is None:
            return min(index, len(self.text))
        return self.offsets[index] if index < len(self.offsets) else len(self.text)


def shown(line: str) -> Shown:
    """The line as it can be shown."""
    if line.isascii() and line.isprintable():
        return Shown(line)
    if _SPECIAL.search(line) is None:
        return Shown(line)
    return _translated(line)


@lru_cache(maxsize=512)
def _translated(line: str) -> Shown:
    pieces: list[str] = []
    offsets: list[int] = []
    flags: list[tuple[int, int]] = []
    length = 0
    for index, char in enumerate(line):
        offsets.append(length)
        if char == "\t":
            piece = " " * (TAB - cell_len("".join(pieces)) % TAB)
        elif _SPECIAL.match(char) is None or _joins(line, index):
            piece = char
        else:
            piece = stand_in(char)
            flags.append((length, length + len(piece)))
        pieces.append(piece)
        length += len(piece)
    return Shown("".join(pieces), tuple(offsets), tuple(flags))


def stand_in(char: str) -> str:
    """What is shown for a character that cannot be seen."""
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xDC80 <= code <= 0xDCFF:
        return f"<{code - 0xDC00:02X}>"  # a byte that is not UTF-8
    return f"<{code:02X}>" if code < 0x100 else f"<U+{code:04X}>"


def _joins(line: str, index: int) -> bool:
    """Whether a joiner does its work in a script or an emoji, instead of hiding in plain text."""
    around = line[max(0, index - 1) : index] + line[index + 1 : index + 2]
    return line[index] in _JOINERS and len(around) == 2 and all(ord(char) > 0x5FF for char in around)


def hidden_in(line: str) -> bool:
    """Whether a line holds characters that can deceive the reader."""
    if line.isascii():
        return False
    return any(
        ord(match[0]) > 0x9F and not _joins(line, match.start()) and not "\ud800" <= match[0] <= "\udfff"
        for match in _SPECIAL.finditer(line)
    )


def plain(text: str) -> str:
    """A text on one line, safe for the screen."""
    return shown(text.replace("\n", "␊")).text


def cuts(text: str, width: int) -> list[int]:
    """Where a text that is wrapped at `width` columns begins each of its rows."""
    if len(text) * 2 <= width or (text.isascii() and len(text) <= width):
        return [0]
    if text.isascii():
        return list(range(0, len(text), width))
    found, filled = [0], 0
    for start, _, size in split_graphemes(text)[0]:
        if filled + size > width:
            found.append(start)
            filled = 0
        filled += size
    return found
