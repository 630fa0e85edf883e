"""How many columns characters take, and text as a string with exactly one character per column."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Stands in the second column of a character that is two columns wide.
FILLER = "\0"
# Everything below U+0300 takes one column; control characters never get here.
_SUSPECT = "[\u0300-\U0010ffff]"
_PLAIN = "[\u2010-\u2027\u2190-\u2319\u2400-\u25fc\u2700-\u2704\u2800-\u28ff\ue000-\uf8ff\ufffd]+"
# Runs that take one column per character, and single characters of which that is not known.
_RUNS = "[\x20-\u02ff]+|[\u0300-\U0010ffff]"
# Clusters get characters of this private plane, so that a column is always one character.
_PRIVATE = 0xF0000
_MOST_CLUSTERS = 0xFFF0


@lru_cache(maxsize=4096)
def char_width(char: str) -> int:
    """0 for what joins the character before it, 2 for wide characters, else 1."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@lru_cache(maxsize=4)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Sets of so many characters take milliseconds to compile, and plain text never needs them."""
    return re.compile(pattern)


def is_plain(text: str) -> bool:
    """Whether every character takes one column, as far as that can be told quickly."""
    return text.isascii() or _compiled(_SUSPECT).search(_compiled(_PLAIN).sub("", text)) is None


class Clusters:
    """Characters that were joined from several, each known by one character of a private plane."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def cells(self, text: str, before: str) -> tuple[str, str]:
        """What the cell before becomes, and the text as cells."""
        cells: list[str] = []
        last = before
        for run in _compiled(_RUNS).findall(text):
            width = 1 if len(run) > 1 else char_width(run)
            if width:
                cells += (run, FILLER) if width == 2 else (run,)
                continue
            place = -2 if cells and cells[-1] == FILLER else -1
            if cells:
                cell = cells[place]
                cells[place] = cell[:-1] + self._joined(cell[-1], run)
            elif last:
                last = self._joined(last, run)
        return last, "".join(cells)

    def plain(self, row: str) -> str:
        """The text of a row of cells."""
        row = row.replace(FILLER, "")
        if not self._texts:
            return row
        return "".join(self._text(char) for char in row)

    def _text(self, char: str) -> str:
        number = ord(char) - _PRIVATE
        return self._texts[number] if 0 <= number < len(self._texts) else char

    def _joined(self, cell: str, char: str) -> str:
        text = self._text(cell) + char
        # Nobody needs more marks on one character; text that never ends must not grow either.
        if len(text) > 16 or (text not in self._numbers and len(self._texts) >= _MOST_CLUSTERS):
            return cell
        if text not in self._numbers:
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return chr(_PRIVATE + self._numbers[text])
