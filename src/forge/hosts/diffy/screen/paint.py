"""Rows as pieces of text with names of styles: what the screen looks like, before there is a screen."""

from __future__ import annotations

from itertools import pairwise

import msgspec
from rich.cells import cell_len, split_text

from forge.core.review.draft import Draft, State, line_verdict
from forge.core.review.model import MODE, RENAME
from forge.hosts.diffy.screen.contents import Contents, Entry, Piece, numbers
from forge.hosts.diffy.screen.rows import Layout, Row, Stop, gutter
from forge.hosts.diffy.screen.syntax import Colours
from forge.hosts.diffy.screen.visible import LONGEST, Shown, cuts, hidden_in, plain, shown
from forge.hosts.diffy.screen.words import different, partner

Names = tuple[str, ...]
Part = tuple[str, Names]
Span = tuple[int, int, str]

GLYPHS = {
    State.PENDING: "·",
    State.ACCEPTED: "✓",
    State.REJECTED: "✗",
    State.MIXED: "~",
    State.ASKED: "?",
}
_LINE_GLYPHS = {"accept": ("✓", ("accepted",)), "reject": ("✗", ("rejected",))}
_STATUS = {"A": "new", "D": "deleted", "M": "modified", "R": "renamed", "T": "type changed", "C": "copied"}
_BASES = {" ": "context", "+": "add", "-": "del"}


class Scene:
    """Everything that decides how a row looks."""

    def __init__(self, layout: Layout, colours: Colours | None = None) -> None:
        self.layout = layout
        self.colours = colours
        self.here = Stop(0)
        self.selection: tuple[int, int, int] | None = None  # unit, first, last
        self.words = ""
        self.match: tuple[int, int] | None = None
        self.deceiving: dict[str, bool] = {}
        self.shift = 0  # columns scrolled to the right

    @property
    def contents(self) -> Contents:
        return self.layout.contents

    @property
    def draft(self) -> Draft:
        return self.layout.draft


class _Line(msgspec.Struct, frozen=True):
    """One line of a body and how it is to be drawn."""

    unit: int
    index: int
    part: int
    width: int
    half: str = ""  # "left" or "right" of a pair


def paint(scene: Scene, row: Row, width: int) -> list[Part]:
    """One row of exactly this many columns."""
    if row.kind == "line":
        return _line(scene, _Line(row.unit, row.index, row.part, width))
    if row.kind == "pair":
        return _pair(scene, row, width)
    if row.kind == "file":
        return crop(file_parts(scene.contents.entries[row.file], scene.draft, scene.contents), 0, width)
    if row.kind == "head":
        return _head(scene, row, width)
    if row.kind == "context":
        return _context(scene, row, width)
    return _other(scene, row, width)


def crop(parts: list[Part], start: int, width: int) -> list[Part]:
    """The columns from `start` on, cut or filled to `width` with the style of the last part."""
    found: list[Part] = []
    left = width
    names: Names = ()
    for text, names in parts:
        if start:
            size = cell_len(text)
            if size <= start:
                start -= size
                continue
            text, start = split_text(text, start)[1], 0
        size = len(text) if text.isascii() else cell_len(text)
        if size > left:
            text = text[:left] if text.isascii() else split_text(text, left)[0]
            size = left
        if text:
            found.append((text, names))
        left -= size
        if not left:
            return found
    found.append((" " * left, names))
    return found


def styled(
    text: Shown, spans: list[Span], names: Names, start: int = 0, end: int | None = None
) -> list[Part]:
    """A part of a line cut where its style changes. Spans count original characters; later ones win."""
    end = len(text.text) if end is None else end
    placed = [(text.place(first), text.place(last), name) for first, last, name in spans]
    placed += [(first, last, "hidden") for first, last in text.flags]
    placed = [span for span in placed if span[0] < end and span[1] > start]
    edges = {start, end}
    for first, last, _ in placed:
        edges.add(max(first, start))
        edges.add(min(last, end))
    return [
        (text.text[a:b], (*names, *(name for first, last, name in placed if first <= a < last)))
        for a, b in pairwise(sorted(edges))
    ]


def file_parts(entry: Entry, draft: Draft, contents: Contents) -> list[Part]:
    """The title of a file."""
    counts = draft.counts(piece.id for piece in contents.pieces[entry.first : entry.end])
    parts: list[Part] = [(f" {plain(entry.path)} ", ("file",))]
    parts.append((f" {_STATUS.get(entry.file.status, entry.file.status)}  ", ("file", "dim")))
    if entry.added:
        parts.append((f"+{entry.added} ", ("file", "accepted")))
    if entry.removed:
        parts.append((f"−{entry.removed} ", ("file", "rejected")))
    parts.append(("  ", ("file",)))
    for state in State:
        number = getattr(counts, state.value)
        if number:
            parts.append((f"{GLYPHS[state]}{number} ", ("file", state.value)))
    return [*parts, ("", ("file",))]


def _head(scene: Scene, row: Row, width: int) -> list[Part]:
    piece = scene.contents.pieces[row.unit]
    here = scene.here.unit == row.unit
    names: Names = ("head_here" if here else "head",)
    mark = scene.draft.mark(piece.id)
    state = scene.draft.state(piece.id)
    parts: list[Part] = [
        ("▌" if here else " ", (*names, "bar")),
        (f"{GLYPHS[state]} ", (*names, state.value)),
        (f"{_range(piece)}  ", names),
        (f"{row.unit + 1} of {len(scene.contents.pieces)}  ", names),
        (state.value if not mark.open else "partly decided", (*names, state.value)),
    ]
    if mark.edit is not None:
        parts.append(("  edited", (*names, "asked")))
    if mark.by:
        parts.append((f" by the rule {mark.by}", (*names, state.value)))
    if scene.layout.is_folded(row.unit):
        parts.append(("  white space only", names))
    if piece.kinds and _deceives(scene, piece):
        parts.append(("  ", names))
        parts.append((" hidden characters ", ("hidden",)))
    return crop([*parts, ("", names)], 0, width)


def _range(piece: Piece) -> str:
    unit = piece.unit
    if not piece.kinds:
        return {RENAME: "rename", MODE: "mode"}.get(unit.kind, "whole file")
    old, new = f"{unit.old_start},{unit.old_count}", f"{unit.new_start},{unit.new_count}"
    return f"@@ -{old} +{new} @@"


def _deceives(scene: Scene, piece: Piece) -> bool:
    if piece.id not in scene.deceiving:
        text = piece.texts.all()
        scene.deceiving[piece.id] = not text.isascii() and hidden_in(text)
    return scene.deceiving[piece.id]


def _other(scene: Scene, row: Row, width: int) -> list[Part]:
    here = row.unit >= 0 and scene.here.unit == row.unit
    bar: Part = ("▌" if here else " ", ("bar",))
    lead = " " * (gutter(scene.layout.digits, side=scene.layout.view.side) - 3)
    if row.kind == "note":
        return crop([bar, (lead, ()), ("┃ ", ("note", "mixed")), (row.text, ("note",))], 0, width)
    if row.kind == "edit":
        return crop([bar, (lead, ()), ("✎ ", ("edit", "asked")), (shown(row.text).text, ("edit",))], 0, width)
    if row.kind == "part":
        now = scene.here == Stop(row.unit, row.index, row.right)
        names: Names = ("head_here" if now else "part",)
        bar = ("▌" if now else " ", (*names, "bar"))
        return crop([bar, (f"{lead}{row.text}", names)], 0, width)
    if row.kind == "info":
        return crop([bar, (lead, ()), (row.text, ("dim",)), ("", ())], 0, width)
    return [(" " * width, ())]


def _context(scene: Scene, row: Row, width: int) -> list[Part]:
    unit = scene.contents.pieces[row.unit].unit
    old = unit.old_start + row.index + (unit.old_count if row.index >= 0 else 0)
    new = unit.new_start + row.index + (unit.new_count if row.index >= 0 else 0)
    digits = scene.layout.digits
    first = f"{old:>{digits}}"
    lead = f"   {first}" if scene.layout.view.side else f"   {first} {new:>{digits}}"
    parts: list[Part] = [(f"{lead}   ", ("number",)), (shown(row.text[:LONGEST]).text, ("dim",))]
    return crop([*parts, ("", ())], 0, width)


def _pair(scene: Scene, row: Row, width: int) -> list[Part]:
    left = width // 2
    parts: list[Part] = []
    for index, columns in ((row.index, left), (row.right, width - left)):
        if index < 0:
            blank = " " * (columns - 1)
            here = _is_here(scene, row.unit, max(row.index, row.right))
            edge: Part = ("▌" if here else " ", ("bar",)) if not parts else ("│", ("number",))
            parts += [edge, (blank, ("void",))]
            continue
        half = _line(scene, _Line(row.unit, index, row.part, columns, "right" if parts else "left"))
        if parts:
            half[0] = ("│", ("number",))
            if index == row.index:  # unchanged: the verdict of nothing
                half[1] = (" ", half[1][1])
        parts += half
    return parts


def _is_here(scene: Scene, unit: int, index: int) -> bool:
    here = scene.here
    return here.unit == unit and (here.first < 0 or here.first <= index <= here.last)


def _line(scene: Scene, line: _Line) -> list[Part]:
    piece = scene.contents.pieces[line.unit]
    kind = piece.kinds[line.index]
    verdict = line_verdict(scene.draft.mark(piece.id), line.index) if kind != " " else ""
    names: Names = (_BASES[kind],)
    if verdict == "reject" and kind == "+":
        names = (*names, "dropped")
    chosen = scene.selection
    if chosen and chosen[0] == line.unit and chosen[1] <= line.index <= chosen[2]:
        names = (*names, "select")
    here = _is_here(scene, line.unit, line.index)
    count = _numbers(scene, piece, line)
    parts: list[Part] = [("▌" if here else " ", ("bar",)), _LINE_GLYPHS.get(verdict, (" ", ()))]
    if not here and not verdict and line.half != "right":
        parts, count = [], f"  {count}"
    parts.append((count, ("number",)))
    sign = kind if not line.part else " "
    parts.append((f" {sign} ", (*names, {"+": "accepted", "-": "rejected"}.get(kind, "context"))))
    room = line.width - gutter(scene.layout.digits, side=bool(line.half))
    return parts + _text(scene, piece, line, names, room)


def _numbers(scene: Scene, piece: Piece, line: _Line) -> str:
    digits = scene.layout.digits
    old, new = ("", "") if line.part else (str(number or "") for number in numbers(piece, line.index))
    if line.half:
        return f" {old if line.half == 'left' else new:>{digits}}"
    return f" {old:>{digits}} {new:>{digits}}"


def _text(scene: Scene, piece: Piece, line: _Line, names: Names, room: int) -> list[Part]:
    whole = piece.texts[line.index]
    wrap = scene.layout.view.wrap
    # A column may take several characters, but never so many.
    text = whole[: LONGEST if wrap else min(LONGEST, 4 * room) + 4 * scene.shift]
    display = shown(text)
    places = cuts(display.text, scene.layout.columns()) if wrap else [0]
    if line.part >= len(places):
        return [(" " * room, names)]
    ends = [*places[1:], None]
    spans = _spans(scene, piece, line, whole, names)
    parts = styled(display, spans, names, places[line.part], ends[line.part])
    if line.part == len(places) - 1:
        if len(text) < len(whole):
            parts.append((f" … {len(whole) - len(text)} more characters", ("dim",)))
        if not piece.texts.ends(line.index):
            parts.append((" ⊘ no newline at end", ("dim",)))
    return crop([*parts, ("", names)], 0 if wrap else scene.shift, room)


def _spans(scene: Scene, piece: Piece, line: _Line, text: str, names: Names) -> list[Span]:
    spans: list[Span] = []
    kind = piece.kinds[line.index]
    if scene.colours is not None and scene.layout.view.syntax and "dropped" not in names:
        spans += scene.colours.spans(scene.contents.entries[piece.entry].path, piece, line.index)
    if kind != " " and "dropped" not in names:
        other = partner(piece.kinds, line.index)
        if other >= 0:
            removed = kind == "-"
            pair = (text, piece.texts[other]) if removed else (piece.texts[other], text)
            name = "del_word" if removed else "add_word"
            spans += [(start, end, name) for start, end in different(*pair)[0 if removed else 1]]
    if scene.words:
        spans += _found(scene, line, text)
    return spans


def _found(scene: Scene, line: _Line, text: str) -> list[Span]:
    words = scene.words
    where = text if words != words.lower() else text.lower()
    name = "found_here" if scene.match == (line.unit, line.index) else "found"
    spans = []
    place = where.find(words)
    while place >= 0:
        spans.append((place, place + len(words), name))
        place = where.find(words, place + len(words))
    return spans
