"""The first and the last row, the file tree, the statistics: as parts of text with names of styles."""

from __future__ import annotations

import os

import msgspec
from rich.cells import cell_len

from forge.core.review.draft import Draft, State
from forge.hosts.diffy.screen.contents import Contents
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.keys import HINTS, SELECTING
from forge.hosts.diffy.screen.paint import GLYPHS, Part, crop
from forge.hosts.diffy.screen.visible import plain


def top_bar(desk: Desk, base: str, width: int) -> list[Part]:
    """File, size of its change, place among the hunks, states, baseline."""
    if not desk.contents.pieces:
        return crop([(" diffy  nothing to review", ("top",))], 0, width)
    entry = desk.contents.entries[desk.piece.entry]
    right: list[Part] = []
    counts = desk.counts
    for state in State:
        number = getattr(counts, state.value)
        if number:
            right.append((f"{GLYPHS[state]}{number} ", ("top", state.value)))
    right.append((f" {desk.here.unit + 1}/{len(desk.contents.pieces)} ", ("top",)))
    if base and width >= 70:
        right.append((f" since {base} ", ("top", "dim")))
    sizes: list[Part] = [
        (f" +{entry.added}", ("top", "accepted")),
        (f" −{entry.removed} ", ("top", "rejected")),
    ]
    room = width - sum(cell_len(text) for text, _ in right + sizes) - 2
    name = shortened(plain(entry.path), max(8, room))
    left: list[Part] = [(f" {name}", ("top",)), *sizes]
    gap = width - sum(cell_len(text) for text, _ in left + right)
    return crop([*left, (" " * max(0, gap), ("top",)), *right], 0, width)


def status_bar(desk: Desk, width: int, warning: str = "") -> list[Part]:
    """A message if there is one, else what can be done."""
    parts: list[Part] = [(" ", ("status",))]
    if warning:
        parts += [(f"{warning}  ", ("message",))]
    if desk.message:
        return crop([*parts, (desk.message, ("message",)), ("", ("status",))], 0, width)
    used = sum(cell_len(text) for text, _ in parts)
    for key, word in SELECTING if desk.scene.selection else HINTS:
        size = len(key) + len(word) + 3
        if used + size > width:
            break
        parts += [(key, ("key",)), (f" {word}  ", ("status",))]
        used += size
    return crop([*parts, ("", ("status",))], 0, width)


def shortened(text: str, width: int) -> str:
    """The end of a text that is too long, which for paths says most."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > width - 1:
        text = text[1:]
    return f"…{text}"


class Branch(msgspec.Struct, frozen=True):
    """One row of the file tree: a directory, or a file with its number."""

    name: str
    depth: int
    entry: int = -1


def tree(contents: Contents) -> list[Branch]:
    """The files under their directories, in the order of the diff."""
    rows: list[Branch] = []
    before: list[str] = []
    for number, entry in enumerate(contents.entries):
        folders = os.path.dirname(entry.path).split("/") if "/" in entry.path else []
        same = 0
        while same < min(len(before), len(folders)) and before[same] == folders[same]:
            same += 1
        rows += [Branch(f"{plain(name)}/", depth) for depth, name in enumerate(folders) if depth >= same]
        rows.append(Branch(plain(os.path.basename(entry.path)), len(folders), number))
        before = folders
    return rows


def state_of_entry(contents: Contents, draft: Draft, number: int) -> State:
    """One state for a file: pending while anything is, else what all have in common."""
    entry = contents.entries[number]
    states = {draft.state(contents.pieces[unit].id) for unit in range(entry.first, entry.end)}
    if len(states) == 1:
        return states.pop()
    return State.PENDING if not states or State.PENDING in states else State.MIXED


def branch(desk: Desk, row: Branch, here: bool, width: int) -> list[Part]:
    """One row of the tree."""
    lead = "  " * row.depth
    if row.entry < 0:
        return crop([(f" {lead}{row.name}", ("dim",))], 0, width)
    state = state_of_entry(desk.contents, desk.draft, row.entry)
    entry = desk.contents.entries[row.entry]
    names = ("head_here",) if here else ()
    size = f"+{entry.added} −{entry.removed}" if entry.added or entry.removed else ""
    room = max(4, width - len(lead) - len(size) - 5)
    name = row.name if cell_len(row.name) <= room else row.name[: room - 1] + "…"
    gap = " " * max(1, width - len(lead) - cell_len(name) - len(size) - 4)
    return crop(
        [
            (f" {lead}", names),
            (f"{GLYPHS[state]} ", (*names, state.value)),
            (name, names),
            (f"{gap}{size} ", (*names, "dim")),
        ],
        0,
        width,
    )


def statistics(desk: Desk) -> list[tuple[str, str]]:
    """What was decided so far, in figures."""
    contents, draft = desk.contents, desk.draft
    counts = desk.counts
    total = len(contents.pieces)
    decided = total - counts.pending
    lines = [("", "Hunks"), ("all", str(total))]
    lines += [(state.value, str(getattr(counts, state.value))) for state in State]
    if decided:
        lines.append(("accepted of decided", f"{100 * counts.accepted // decided} %"))
    added = sum(entry.added for entry in contents.entries)
    removed = sum(entry.removed for entry in contents.entries)
    lines += [("", ""), ("", "Size"), ("files", str(len(contents.entries)))]
    lines += [("lines added", str(added)), ("lines removed", str(removed))]
    lines += [("comments", str(len(draft.comments))), ("", ""), ("", "By kind of file")]
    return lines + _kinds(contents, draft)


def _kinds(contents: Contents, draft: Draft) -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for piece in contents.pieces:
        path = contents.entries[piece.entry].path
        found.setdefault(os.path.splitext(path)[1] or "(none)", []).append(piece.id)
    rows = []
    for ending, hunks in sorted(found.items(), key=lambda item: -len(item[1]))[:12]:
        counts = draft.counts(hunks)
        text = f"{len(hunks)}: {counts.accepted} accepted, {counts.rejected + counts.mixed} rejected"
        rows.append((plain(ending), text))
    return rows
