"""The order of names in lists: marks, digits, then letters whatever their case and accents."""

from __future__ import annotations

from importlib import import_module

_MARKS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_RANKS = {ord(mark): chr(rank + 1) for rank, mark in enumerate(_MARKS)}


def name_order(name: str) -> tuple[str, str, str]:
    """What to sort a name by; between names that differ only in case the one in small letters is first."""
    lower = name.lower()
    plain = lower if name.isascii() else _without_accents(lower)
    return plain.translate(_RANKS), lower, name.swapcase()


def _without_accents(text: str) -> str:
    # The table of all characters is large, and most names do without.
    characters = import_module("unicodedata")
    parts = characters.normalize("NFD", text)
    return "".join(part for part in parts if not characters.combining(part))
