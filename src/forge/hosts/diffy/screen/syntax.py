"""Syntax colours of the lines in sight, from windows of a body that are coloured once."""

from __future__ import annotations

import re
from functools import lru_cache

from forge.hosts.diffy.screen.contents import Piece
from forge.hosts.diffy.screen.languages import BY_ENDING, CONSTANTS, FAMILIES

Spans = tuple[tuple[int, int, str], ...]

_WINDOW = 80
_LEAD = 20
_LONGEST = 2000


class Colours:
    """The syntax colours of one review."""

    def __init__(self) -> None:
        self._windows: dict[tuple[str, int, str], dict[int, Spans]] = {}

    def spans(self, path: str, piece: Piece, index: int) -> Spans:
        """The coloured parts of one line, as (start, end, name)."""
        # What was removed stands alone; everything else is the new text.
        side = "-" if piece.kinds[index] == "-" else " +"
        key = (piece.id, index // _WINDOW, side)
        found = self._windows.get(key)
        if found is None:
            if len(self._windows) > 200:
                self._windows.clear()
            found = _window(family_of(path), piece, index, side)
            self._windows[key] = found
        return found.get(index, ())


def family_of(path: str) -> str:
    """The family of languages of a file; "" if it is not known."""
    name = path.rpartition("/")[2].lower()
    return BY_ENDING.get(name.rpartition(".")[2], "")


def _window(family: str, piece: Piece, index: int, side: str) -> dict[int, Spans]:
    if not family:
        return {}
    start = index // _WINDOW * _WINDOW
    # Some lines before, so that a text that began there keeps its colour.
    wanted = range(max(0, start - _LEAD), min(len(piece.kinds), start + _WINDOW))
    indexes = [i for i in wanted if piece.kinds[i] in side]
    lines = [piece.texts[i][:_LONGEST] for i in indexes]
    return dict(zip(indexes, coloured(family, lines), strict=True))


def coloured(family: str, lines: list[str]) -> list[Spans]:
    """The coloured parts of lines that follow each other."""
    spans: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    words = FAMILIES[family].words
    any_case = FAMILIES[family].any_case
    text = "\n".join(lines)
    row, line_start, line_end = 0, 0, len(lines[0]) if lines else 0
    for match in _pattern(family).finditer(text):
        name = match.lastgroup or ""
        start, end = match.span()
        if name == "word":
            name = _word(match[0].lower() if any_case else match[0], words)
            if not name and text[end : end + 1] == "(":
                name = "fun"
            if not name:
                continue
        while start > line_end:
            row += 1
            line_start, line_end = line_end + 1, line_end + 1 + len(lines[row])
        # A comment or a text may go on over several lines.
        while True:
            spans[row].append((start - line_start, min(end, line_end) - line_start, name))
            if end <= line_end:
                break
            row += 1
            start = line_start = line_end + 1
            line_end = line_start + len(lines[row])
    return [tuple(line) for line in spans]


def _word(word: str, words: frozenset[str]) -> str:
    if word in words:
        return "kw"
    if word in CONSTANTS:
        return "num"
    return "cls" if word[0].isupper() and not word.isupper() else ""


@lru_cache(maxsize=32)
def _pattern(family: str) -> re.Pattern[str]:
    language = FAMILIES[family]
    parts = [("com", language.comment), ("str", language.text), ("tag", language.mark)]
    if family == "json":  # keys look like texts
        parts.reverse()
    known = [f"(?P<{name}>{pattern})" for name, pattern in parts if pattern]
    if family != "prose":
        known += [r"(?P<num>\b\d[\w.]*)", r"(?P<word>[^\W\d]\w*)"]
    return re.compile("|".join(known))
