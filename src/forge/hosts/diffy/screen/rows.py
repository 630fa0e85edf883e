"""The diff as rows of the screen, found by number without building the others: size does not matter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, zip_longest

import msgspec

from forge.core.review.draft import Comment, Draft, State
from forge.hosts.diffy.screen.contents import Contents, Piece, side
from forge.hosts.diffy.screen.visible import LONGEST, cuts, shown
from forge.hosts.diffy.screen.words import only_spaces

_RUNS = re.compile(r"( +)|(-*)(\+*)")
_KEPT = 64


class Row(msgspec.Struct, frozen=True):
    """One row: a title of a file, the head of a unit or of a part, a line, a pair of lines, a note."""

    kind: str  # gap, file, head, part, line, pair, context, info, edit, note
    unit: int = -1
    index: int = -1  # the line of the body; of a pair, the old one
    right: int = -1  # of a pair, the new line; of a part, its last line
    part: int = 0  # which row of a line that is wrapped
    text: str = ""
    file: int = -1


class View(msgspec.Struct, frozen=True):
    """How the diff is shown."""

    width: int = 80
    side: bool = False
    wrap: bool = False
    hide: bool = False  # leave out what is decided
    fold: bool = False  # changes of white space as one row
    syntax: bool = True


class Stop(msgspec.Struct, frozen=True):
    """Where the cursor can be: on a unit, or on a part of one that is split."""

    unit: int
    first: int = -1
    last: int = -1


class Layout:
    """All rows. `refresh` after anything has changed."""

    def __init__(self, contents: Contents, draft: Draft, view: View) -> None:
        self.contents = contents
        self.draft = draft
        self.view = view
        self.extra: dict[int, tuple[Sequence[str], Sequence[str]]] = {}
        self.digits = max([len(str(_highest(unit))) for unit in contents.pieces], default=1)
        self._spaces: dict[int, bool] = {}
        self._bodies: dict[int, tuple[object, list[Row]]] = {}
        self._blocks: list[tuple[int, int]] = []  # file and unit, -1 for the file's title
        self._place: list[int] = []
        for number, file in enumerate(contents.entries):
            self._blocks.append((number, -1))
            for unit in range(file.first, file.end):
                self._place.append(len(self._blocks))
                self._blocks.append((number, unit))
        self.refresh()

    def refresh(self, units: Iterable[int] | None = None) -> None:
        """Counts the rows again, of all units or of those that have changed."""
        self._notes: dict[tuple[str, str], list[Comment]] = {}
        self._lost: dict[str, list[Comment]] = {}  # on hunks that have changed since
        for comment in self.draft.comments:
            if comment.hunk and comment.hunk not in self.contents.places:
                self._lost.setdefault(comment.path, []).append(comment)
            else:
                self._notes.setdefault((comment.path, comment.hunk), []).append(comment)
        self._cache: dict[int, tuple[list[Row], Sequence[object], list[Row]]] = {}
        if units is None:
            self._heights = self._all_heights()
        for unit in units or ():
            title = self._place[self.contents.entries[self.contents.pieces[unit].entry].first] - 1
            self._heights[title] = self._height(title)
            self._heights[self._place[unit]] = self._height(self._place[unit])
        self._starts = [0, *accumulate(self._heights)]

    @property
    def total(self) -> int:
        """The number of rows."""
        return self._starts[-1]

    def row(self, y: int) -> Row:
        """The row with this number, which must exist."""
        block = bisect_right(self._starts, y) - 1
        head, body, tail = self._rows(block)
        place = y - self._starts[block]
        if place < len(head):
            return head[place]
        place -= len(head)
        if place >= len(body):
            return tail[place - len(body)]
        return _as_row(self._blocks[block][1], body[place])

    def top(self, unit: int, line: int = -1) -> int:
        """The number of the row where a unit, or a line of it, begins."""
        block = self._place[unit]
        start = self._starts[block]
        if line < 0 or self._starts[block + 1] == start:
            return start
        head, body, _ = self._rows(block)
        return start + len(head) + _position(body, line)

    def bottom(self, unit: int) -> int:
        """The number of the row after a unit."""
        return self._starts[self._place[unit] + 1]

    def is_shown(self, unit: int) -> bool:
        """Whether a unit is among the rows."""
        return not (self.view.hide and self.draft.state(self.contents.pieces[unit].id) is not State.PENDING)

    def is_folded(self, unit: int) -> bool:
        """Whether only the head of a unit is shown, because nothing but white space changed."""
        if not self.view.fold:
            return False
        if unit not in self._spaces:
            body = self.contents.pieces[unit]
            self._spaces[unit] = bool(body.kinds) and only_spaces(side(body, "+"), side(body, "-"))
        return self._spaces[unit]

    def columns(self) -> int:
        """How many columns a line's text has."""
        if self.view.side:
            return max(10, self.view.width // 2 - gutter(self.digits, side=True))
        return max(10, self.view.width - gutter(self.digits, side=False))

    def stops(self, unit: int) -> list[Stop]:
        """Where the cursor can be in a unit."""
        body = self.contents.pieces[unit]
        level = self.draft.mark(body.id).split if body.kinds else 0
        if level == 0:
            return [Stop(unit)]
        if level == 1:
            return [Stop(unit, first, last) for first, last in body.blocks]
        return [Stop(unit, index, index) for index in body.changes]

    def _all_heights(self) -> list[int]:
        view = self.view
        if view.side or view.wrap or view.hide or view.fold or self.extra or self.draft.is_begun:
            return [self._height(block) for block in range(len(self._blocks))]
        pieces = self.contents.pieces
        return [
            1 + (len(pieces[unit].kinds) or 1) if unit >= 0 else len(self._title(file))
            for file, unit in self._blocks
        ]

    def _height(self, block: int) -> int:
        file, unit = self._blocks[block]
        if unit < 0:
            entry = self.contents.entries[file]
            if self.view.hide and not any(map(self.is_shown, range(entry.first, entry.end))):
                return 0
            return len(self._title(file))
        if not self.is_shown(unit):
            return 0
        if self._is_simple(unit) and not self.view.side and unit not in self.extra:
            hunk = self.contents.pieces[unit]
            notes = (self.contents.entries[file].path, hunk.id) in self._notes
            if not notes and self.draft.mark(hunk.id).edit is None:
                return 1 + (len(hunk.kinds) or 1)
        head, body, tail = self._unit(file, unit)
        return len(head) + len(body) + len(tail)

    def _is_simple(self, unit: int) -> bool:
        """Whether rows and lines of a body correspond."""
        hunk = self.contents.pieces[unit]
        return not (
            (self.view.wrap and not self._fits(hunk))
            or self.is_folded(unit)
            or self.draft.mark(hunk.id).split
            or any(comment.first >= 0 for comment in self._notes_of(unit))
        )

    def _fits(self, hunk: Piece) -> bool:
        """Whether no line of a hunk needs to be wrapped, as far as that can be told quickly."""
        longest = max(map(len, hunk.unit.lines), default=0) - 1
        if longest > self.columns():
            return False
        joined = b"".join(hunk.unit.lines)
        return longest * TAB_AT_MOST <= self.columns() or (joined.isascii() and b"\t" not in joined)

    def _notes_of(self, unit: int) -> list[Comment]:
        if not self._notes:
            return []
        hunk = self.contents.pieces[unit]
        return self._notes.get((self.contents.entries[hunk.entry].path, hunk.id), [])

    def _rows(self, block: int) -> tuple[list[Row], Sequence[object], list[Row]]:
        found = self._cache.get(block)
        if found is None:
            file, unit = self._blocks[block]
            found = (self._title(file), (), []) if unit < 0 else self._unit(file, unit)
            if len(self._cache) >= _KEPT:
                self._cache.clear()
            self._cache[block] = found
        return found

    def _title(self, file: int) -> list[Row]:
        rows = [Row("gap", file=file)] if file else []
        rows.append(Row("file", file=file))
        entry = self.contents.entries[file]
        if entry.file.whole:
            rows.append(Row("info", file=file, text=entry.file.whole))
        for comment in self._notes.get((entry.path, ""), []):
            rows += [Row("note", file=file, text=text) for text in self._note(comment.text)]
        for comment in self._lost.get(entry.path, []):
            rows += [Row("note", file=file, text=text) for text in self._note(f"outdated: {comment.text}")]
        return rows

    def _unit(self, file: int, unit: int) -> tuple[list[Row], Sequence[object], list[Row]]:
        head = [Row("head", unit, file=file)]
        if self.is_folded(unit):
            return head, (), []
        above, below = self.extra.get(unit, ((), ()))
        head += [Row("context", unit, index=i - len(above), text=text) for i, text in enumerate(above)]
        tail = [Row("context", unit, index=i, text=text) for i, text in enumerate(below)]
        hunk = self.contents.pieces[unit]
        edit = self.draft.mark(hunk.id).edit
        if edit is not None:
            tail += [Row("edit", unit, index=i, text=text) for i, text in enumerate(_edited(edit))]
        for comment in self._notes_of(unit):
            if comment.first < 0:
                tail += [Row("note", unit, text=text) for text in self._note(comment.text)]
        return head, self._body(unit), tail

    def _body(self, unit: int) -> Sequence[object]:
        hunk = self.contents.pieces[unit]
        if not hunk.kinds:
            return [Row("info", unit, text=hunk.title)]
        lines: Sequence[object] = pairs(hunk.kinds) if self.view.side else range(len(hunk.kinds))
        if self._is_simple(unit):
            return lines
        # A verdict changes no rows: long bodies are built once.
        key = (self.view, self.draft.mark(hunk.id).split, tuple(self._notes_of(unit)))
        known, rows = self._bodies.get(unit, (None, []))
        if known != key:
            rows = self._full(unit, hunk, lines)
            self._bodies[unit] = (key, rows)
        return rows

    def _full(self, unit: int, hunk: Piece, lines: Sequence[object]) -> list[Row]:
        """A body with heads of its parts, lines that are wrapped and comments between them."""
        parts = hunk.blocks if self.draft.mark(hunk.id).split == 1 else []
        heads = {first: (number, last) for number, (first, last) in enumerate(parts, 1)}
        notes = {
            comment.last: self._note(comment.text) for comment in self._notes_of(unit) if comment.first >= 0
        }
        rows: list[Row] = []
        for item in lines:
            row = _as_row(unit, item)
            here = [index for index in (row.index, row.right) if index >= 0]
            for index in here[:1]:
                if index in heads:
                    number, last = heads[index]
                    rows.append(Row("part", unit, index, last, text=f"part {number} of {len(parts)}"))
            rows.append(row)
            for number in range(1, max(self._height_of(hunk, index) for index in here)):
                rows.append(msgspec.structs.replace(row, part=number))
            for index in dict.fromkeys(here):
                rows += [Row("note", unit, index=index, text=text) for text in notes.get(index, ())]
        return rows

    def _height_of(self, hunk: Piece, index: int) -> int:
        text = hunk.texts[index][:LONGEST]
        if not self.view.wrap or len(text) * TAB_AT_MOST <= self.columns():
            return 1
        return len(cuts(shown(text).text, self.columns()))

    def _note(self, text: str) -> list[str]:
        width = max(20, min(self.view.width - 12, 100))
        rows: list[str] = []
        for line in text.splitlines() or [""]:
            line = shown(line).text
            places = cuts(line, width)
            rows += [line[a:b] for a, b in zip_longest(places, places[1:])]
        return rows


# A tab or a named character takes at most this many columns.
TAB_AT_MOST = 9


def gutter(digits: int, *, side: bool) -> int:
    """Columns before a line's text: cursor, verdict, numbers, sign."""
    return (digits if side else 2 * digits + 1) + 6


def pairs(kinds: str) -> list[tuple[int, int]]:
    """The lines of a body side by side: (old, new), -1 where there is none."""
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(kinds):
        match = _RUNS.match(kinds, place)
        end = match.end() if match else place
        if end == place:
            break
        if kinds[place] == " ":
            found += [(index, index) for index in range(place, end)]
        else:
            middle = kinds.find("+", place, end)
            middle = end if middle < 0 else middle
            found += list(zip_longest(range(place, middle), range(middle, end), fillvalue=-1))
        place = end
    return found


def _highest(piece: Piece) -> int:
    unit = piece.unit
    return max(unit.old_start + unit.old_count, unit.new_start + unit.new_count)


def _as_row(unit: int, item: object) -> Row:
    if isinstance(item, Row):
        return item
    if isinstance(item, tuple):
        return Row("pair", unit, item[0], item[1])
    return Row("line", unit, item if isinstance(item, int) else -1)


def _position(body: Sequence[object], line: int) -> int:
    if isinstance(body, range):
        return min(line, max(0, len(body) - 1))
    for place, item in enumerate(body):
        row = _as_row(-1, item)
        if row.kind in ("line", "pair") and line in (row.index, row.right):
            return place
    return 0


def _edited(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines
