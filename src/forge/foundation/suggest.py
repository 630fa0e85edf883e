"""Finds the known name that a mistyped one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """The known name at most two typing mistakes away (case, `_` and `-` do not count), or nothing."""
    wanted = _letters(word)
    best = min(((_mistakes(wanted, _letters(name)), name) for name in known), default=(3, ""))
    return best[1] if best[0] <= min(2, len(wanted) // 3) else ""


def _mistakes(one: str, other: str) -> int:
    """Swapped letters are one mistake."""
    steps = distance(one, other)
    return 1 if steps == 2 and sorted(one) == sorted(other) else steps


def distance(one: str, other: str) -> int:
    """How many characters must be added, removed or replaced."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def _letters(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")
