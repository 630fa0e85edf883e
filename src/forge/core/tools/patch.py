"""The difference of two texts as hunks with three lines of context.

What both texts begin and end with is skipped first, so the cost grows with the change, not with the file.
"""

from __future__ import annotations

from typing import Any

_CONTEXT = 3
# Beyond this many changed lines the middle is shown as replaced as a whole.
_MAX_CHANGES = 400
_NO_NEWLINE = "\\ No newline at end of file"

Hunk = dict[str, Any]
# Old lines [start, end) become new lines [start, end).
Change = tuple[int, int, int, int]


def structured_patch(old: str, new: str) -> list[Hunk]:
    """The hunks that turn one text into the other."""
    if old == new:
        return []
    start, old_end, new_end = _window(old, new)
    before, after = _lines(old[start:old_end]), _lines(new[start:new_end])
    skipped = old.count("\n", 0, start)
    return [_hunk(group, before, after, skipped) for group in _groups(_changes(before, after))]


def shown_patch(old: str, new: str) -> list[Hunk]:
    """The hunks as hosts show them: every tab a line begins with is two blanks."""
    hunks = structured_patch(old, new)
    return [{**hunk, "lines": [_spaced(line) for line in hunk["lines"]]} for hunk in hunks]


def _spaced(line: str) -> str:
    text = line[1:].lstrip("\t")
    return line[:1] + "  " * (len(line) - 1 - len(text)) + text


def _window(old: str, new: str) -> tuple[int, int, int]:
    """Where the texts must be compared line by line: whole lines, with context on both sides."""
    start = old.rfind("\n", 0, _common(old, new)) + 1
    for _ in range(_CONTEXT):
        start = old.rfind("\n", 0, max(start - 1, 0)) + 1
    same = _common(old[start:][::-1], new[start:][::-1])
    end = len(old) - same
    for _ in range(_CONTEXT + 1):
        end = old.find("\n", end) + 1 or len(old)
    return start, end, end + len(new) - len(old)


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    last = parts.pop()
    lines = [part + "\n" for part in parts]
    return [*lines, last] if last else lines


def _changes(before: list[str], after: list[str]) -> list[Change]:
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    inner = _shortest(old, new) if old and new else [(0, len(old), 0, len(new))]
    return [(a + head, b + head, c + head, d + head) for a, b, c, d in inner]


def _shortest(old: list[str], new: list[str]) -> list[Change]:
    """The smallest set of changes (Myers' greedy search, with the furthest points of every round kept)."""
    rounds: list[dict[int, int]] = []
    furthest = {1: 0}
    for count in range(min(len(old) + len(new), _MAX_CHANGES) + 1):
        current: dict[int, int] = {}
        for diagonal in range(-count, count + 1, 2):
            x = _step(furthest, diagonal, count)
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            current[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _trace([*rounds, furthest], len(old), len(new))
        rounds.append(furthest)
        furthest = current
    return [(0, len(old), 0, len(new))]


def _step(furthest: dict[int, int], diagonal: int, count: int) -> int:
    below, above = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
    if diagonal == -count or (diagonal != count and above < below):
        return below
    return above + 1


def _trace(rounds: list[dict[int, int]], x: int, y: int) -> list[Change]:
    changes: list[Change] = []
    for count in range(len(rounds) - 1, 0, -1):
        diagonal = x - y
        furthest = rounds[count]
        below, above = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
        inserted = diagonal == -count or (diagonal != count and above < below)
        start_x = below if inserted else above
        start_y = start_x - (diagonal + 1 if inserted else diagonal - 1)
        change = (start_x, start_x + (not inserted), start_y, start_y + inserted)
        if changes and change[1] == changes[-1][0] and change[3] == changes[-1][2]:
            change = (change[0], changes[-1][1], change[2], changes[-1][3])
            changes.pop()
        changes.append(change)
        x, y = start_x, start_y
    return changes[::-1]


def _groups(changes: list[Change]) -> list[list[Change]]:
    """Changes whose context would touch belong to one hunk."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[Change], before: list[str], after: list[str], skipped: int) -> Hunk:
    lead = min(_CONTEXT, group[0][0])
    old_start, new_start = group[0][0] - lead, group[0][2] - lead
    lines: list[str] = []
    position = old_start
    for old_from, old_to, new_from, new_to in group:
        _mark(lines, " ", before[position:old_from])
        _mark(lines, "-", before[old_from:old_to])
        _mark(lines, "+", after[new_from:new_to])
        position = old_to
    end = min(position + _CONTEXT, len(before))
    _mark(lines, " ", before[position:end])
    return {
        "oldStart": skipped + old_start + 1,
        "oldLines": end - old_start,
        "newStart": skipped + new_start + 1,
        "newLines": group[-1][3] + end - position - new_start,
        "lines": lines,
    }


def _mark(lines: list[str], sign: str, text: list[str]) -> None:
    for line in text:
        if line.endswith("\n"):
            lines.append(sign + line[:-1])
        else:
            lines.extend((sign + line, _NO_NEWLINE))
