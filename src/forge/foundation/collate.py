"""The order of names in lists: marks, digits, then letters whatever their case and accents."""

from __future__ import annotations

import unicodedata

_MARKS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_RANKS = {ord(mark): chr(rank + 1) for rank, mark in enumerate(_MARKS)}


def name_order(name: str) -> tuple[str, str, str]:
    """What to sort a name by; between names that differ only in case the one in small letters is first."""
    lower = name.lower()
    plain = lower
    if not name.isascii():
        parts = unicodedata.normalize("NFD", lower)
        plain = "".join(char for char in parts if not unicodedata.combining(char))
    return plain.translate(_RANKS), lower, name.swapcase()
