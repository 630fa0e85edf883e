"""Finds the text an edit means, and applies it.

Straight and typographic quotes match each other, and so do characters and their \\uXXXX escapes; nothing
else is forgiven. Lines do not get trailing blanks, and a line that is removed goes with its line end; both
only where nothing else stands on the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_QUOTES = str.maketrans("‘’“”", "''\"\"")
_OPENS_AFTER = frozenset(" \t\n\r([{—–")
_TRAILING = re.compile(r"[^\S\r\n]+(?=\r?\n)")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


class Match(msgspec.Struct, frozen=True):
    """`found` stands in the file; `given` is the new text as asked for, `replacement` as written."""

    found: str
    given: str
    replacement: str


def find(text: str, old: str, new: str, *, trim: bool) -> Match | None:
    """What to replace by what, or None; `trim` removes blanks at the ends of new lines."""
    found, given, kept = old, new, new
    if old not in text:
        match = _alike(text, old, new)
        if match is None:
            return None
        found, given, kept = match
    if not trim:
        return Match(found, given, kept)
    whole = _ends_lines(text, found)
    return Match(found, _trimmed(given, whole=whole), _trimmed(kept, whole=whole))


def has_escapes(text: str) -> bool:
    """Whether a text could also have been written with, or without, \\uXXXX escapes."""
    return _unescaped(text) != text or _escaped(text) != text


def apply(text: str, match: Match, *, everywhere: bool) -> str:
    """The text after the edit."""
    if match.replacement or match.found.endswith("\n"):
        return text.replace(match.found, match.replacement, -1 if everywhere else 1)
    parts: list[str] = []
    position = 0
    for start in _positions(text, match.found):
        end = start + len(match.found)
        starts_line = start == 0 or text[start - 1] == "\n"
        parts.append(text[position:start])
        position = end + (starts_line and text.startswith("\n", end))
        if not everywhere:
            break
    return "".join([*parts, text[position:]])


def _alike(text: str, old: str, new: str) -> tuple[str, str, str] | None:
    """What stands in the text instead of the old one, the new text as it is meant and as it is written."""
    position = text.translate(_QUOTES).find(old.translate(_QUOTES))
    if position >= 0:
        found = text[position : position + len(old)]
        return found, new, _in_style_of(found, new)
    if (plain := _unescaped(old)) != old and plain in text:
        return plain, _unescaped(new), _unescaped(new)
    if (coded := _escaped(old)) != old and coded in text:
        return coded, new, _escaped(new)
    return None


def _trimmed(text: str, *, whole: bool) -> str:
    """A text whose lines do not end in blanks; the last one only if it is `whole`."""
    text = _TRAILING.sub("", text)
    return text.rstrip(" \t\f\v") if whole else text


def _ends_lines(text: str, found: str) -> bool:
    return all(text[end : end + 1] in ("\n", "") for end in (p + len(found) for p in _positions(text, found)))


def _unescaped(text: str) -> str:
    def characters(match: re.Match[str]) -> str:
        units = bytes.fromhex(match[0].replace("\\u", ""))
        return units.decode("utf-16-be", "surrogatepass")

    return _ESCAPES.sub(characters, text)


def _escaped(text: str) -> str:
    def escapes(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    return _BEYOND_ASCII.sub(escapes, text)


def _positions(text: str, found: str) -> Iterator[int]:
    position = text.find(found)
    while position >= 0:
        yield position
        position = text.find(found, position + len(found))


def _in_style_of(found: str, new: str) -> str:
    """The new text with typographic quotes where the old one has them."""
    single = "‘" in found or "’" in found
    double = "“" in found or "”" in found
    result = []
    for index, char in enumerate(new):
        opens = index == 0 or new[index - 1] in _OPENS_AFTER
        if char == '"' and double:
            result.append("“" if opens else "”")
        elif char == "'" and single:
            result.append("‘" if opens else "’")
        else:
            result.append(char)
    return "".join(result)
