"""Which removed line became which added line, inside each run of changed lines of a hunk."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(rb"\w+|[^\w\s]")
# Comparing every removed with every added line is only worth it for runs a person looks at line by line.
_MOST_COMPARED = 4000
_ALIKE = 0.4


def in_order(lines: Sequence[bytes], indexes: range) -> list[int]:
    """The changed lines of one run in the order in which any choice of them is put into the file.

    A removed line stands directly before the added line that took its place.
    """
    removed = [at for at in indexes if lines[at][:1] == b"-"]
    added = [at for at in indexes if lines[at][:1] == b"+"]
    order: list[int] = []
    at_old = at_new = 0
    for old, new in _aligned(lines, removed, added):
        until_old, until_new = removed.index(old, at_old), added.index(new, at_new)
        order += [*removed[at_old:until_old], *added[at_new:until_new], old, new]
        at_old, at_new = until_old + 1, until_new + 1
    return order + removed[at_old:] + added[at_new:]


def _aligned(lines: Sequence[bytes], removed: list[int], added: list[int]) -> list[tuple[int, int]]:
    if not removed or not added:
        return []
    if len(removed) * len(added) > _MOST_COMPARED:
        return list(zip(removed, added, strict=False))
    olds = [_words(lines[at]) for at in removed]
    news = [_words(lines[at]) for at in added]
    # The best sum of similarities for each pair of tails; pairs keep their order.
    best = [[0.0] * (len(added) + 1) for _ in range(len(removed) + 1)]
    alike = [[_similarity(old, new) for new in news] for old in olds]
    for i in range(len(removed) - 1, -1, -1):
        for j in range(len(added) - 1, -1, -1):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= _ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(removed) and j < len(added):
        if alike[i][j] >= _ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            found.append((removed[i], added[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found or (list(zip(removed, added, strict=True)) if len(removed) == len(added) else [])


def _words(line: bytes) -> list[bytes]:
    return sorted(_WORD.findall(line[1:2000]))


def _similarity(old: list[bytes], new: list[bytes]) -> float:
    """Twice the shared words over all words; both lists are sorted."""
    if not old or not new:
        return 1.0 if old == new else 0.0
    shared, i, j = 0, 0, 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            shared, i, j = shared + 1, i + 1, j + 1
        elif old[i] < new[j]:
            i += 1
        else:
            j += 1
    return 2 * shared / (len(old) + len(new))
