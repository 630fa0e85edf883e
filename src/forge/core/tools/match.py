"""Finds the text an edit means. Straight and typographic quotes match each other, nothing else does."""

from __future__ import annotations

import msgspec

_QUOTES = str.maketrans("‘’“”", "''\"\"")
_OPENS_AFTER = frozenset(" \t\n\r([{—–")


class Match(msgspec.Struct, frozen=True):
    """`found` stands in the file; `given` is the new text as asked for, `replacement` as written."""

    found: str
    given: str
    replacement: str


def find(text: str, old: str, new: str) -> Match | None:
    """What to replace by what, or None."""
    if old in text:
        return Match(old, new, new)
    position = text.translate(_QUOTES).find(old.translate(_QUOTES))
    if position < 0:
        return None
    found = text[position : position + len(old)]
    return Match(found, new, _in_style_of(found, new))


def apply(text: str, match: Match, everywhere: bool) -> str:
    """The text after the edit. A line that becomes empty by it goes with its line end."""
    found = match.found
    if not match.replacement and not found.endswith("\n") and f"{found}\n" in text:
        found += "\n"
    return text.replace(found, match.replacement, -1 if everywhere else 1)


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
