"""Texts with `*` for anything, matched in linear time whatever the pattern."""

from __future__ import annotations


def matches(pieces: list[str], text: str) -> bool:
    """Whether the text is the pieces in their order with anything between them."""
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
