"""What the model is told about a review: plain text with a fixed layout and a limited size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from forge.core.review.choose import Choice, choose
from forge.core.review.hunks import split_lines
from forge.core.review.model import (
    CONTENT,
    MODE,
    REJECT,
    RENAME,
    TEXT,
    Decision,
    File,
    Listing,
    Review,
    Unit,
)

LIMIT = 10240
HEADER = "[diffy review result]"
FOOTER = "please fix the rejected hunks and try again."
CUT = "(truncated)"
REVERTED = (
    "the rejected hunks were reverted on disk; line numbers refer to the state before that."
    " read the files again before you edit them."
)
KEPT = "nothing was reverted on disk: the rejected hunks are still in the files."
_NOTED = "please take these comments into account."
# How many lines of a hunk are shown, as long as everything must fit.
_STEPS = (1_000_000, 200, 100, 60, 40, 24, 16, 10, 6, 4, 2, 0)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TICKS = re.compile("`{3,}")
_SHORT_COMMENT = 200


class Item(msgspec.Struct, frozen=True):
    """One entry: its first line, comments, and the lines of its diff."""

    title: str
    comments: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()


def write(listing: Listing, review: Review, reverted: bool, limit: int = LIMIT) -> str:
    """The feedback on a review; empty if there is nothing the model must know."""
    choices = choose(listing, review)
    items = _items(listing, review, choices)
    rejected = sum(choice.verdict == REJECT for choice in choices.values())
    if not items:
        return ""
    head = [HEADER, f"rejected {rejected} of {listing.hunks} hunks."]
    if rejected:
        head.append(REVERTED if reverted else KEPT)
    return _fitted(head, items, FOOTER if rejected else _NOTED, limit)


def plain(content: bytes | str) -> str:
    """Text without control characters; what is not UTF-8 becomes U+FFFD."""
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def name(path: str) -> str:
    """A path on one line."""
    return plain(path.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"))


def where(unit: Unit, file: File, indexes: Sequence[int] = ()) -> str:
    """Which part of a file a unit is: `lines 3-9`, or what it is about."""
    if unit.kind == TEXT:
        first, last = _line_range(unit, indexes)
        return f"lines {first}-{last}"
    if unit.kind == MODE:
        return f"mode {file.old_mode} to {file.new_mode}"
    if unit.kind == RENAME:
        return f"renamed from {name(file.old_path)}"
    if unit.kind == CONTENT:
        return "whole content"
    kinds = {"A": "new file", "D": "deleted file", "T": "type change"}
    return "submodule" if file.is_submodule else kinds.get(file.status, "whole file")


def _items(listing: Listing, review: Review, choices: Mapping[str, Choice]) -> list[Item]:
    """Rejected hunks first, then what else there is to say."""
    decisions: dict[str, list[Decision]] = {}
    for decision in review.decisions:
        decisions.setdefault(decision.hunk, []).append(decision)
    rejected, others = [], []
    for file in listing.files:
        for unit in file.hunks:
            choice, about = choices[unit.id], decisions.get(unit.id, [])
            if choice.verdict == REJECT:
                rejected.append(_rejected(file, unit, choice, about))
            elif item := _other(file, unit, choice, about):
                others.append(item)
    for remark in review.files:
        others.append(Item(f"- {name(remark.path)}: comment", (f"comment: {plain(remark.comment)}",)))
    if review.comment:
        others.append(Item("- the whole review: comment", (f"comment: {plain(review.comment)}",)))
    return [*rejected, *others]


def _rejected(file: File, unit: Unit, choice: Choice, about: Sequence[Decision]) -> Item:
    part = unit.kind == TEXT and len(choice.rejected) < sum(line[:1] != b" " for line in unit.lines)
    shown = sorted(choice.rejected) if part else ()
    note = " (submodule: not reverted)" if file.is_submodule else ""
    title = f"- {name(file.path)} ({where(unit, file, shown)}): rejected{note}"
    return Item(title, _comments(unit, about), tuple(_diff(unit, choice.rejected)))


def _other(file: File, unit: Unit, choice: Choice, about: Sequence[Decision]) -> Item | None:
    place = f"- {name(file.path)} ({where(unit, file)})"
    comments = _comments(unit, about)
    if choice.edit is not None:
        return Item(f"{place}: edited by the user", comments, tuple(_edited(unit, choice.edit)))
    if not comments:
        return None
    if any(decision.question for decision in about):
        return Item(f"{place}: question (answer, do not change)", comments, tuple(_diff(unit)))
    return Item(f"{place}: accepted with comment", comments)


def _comments(unit: Unit, about: Sequence[Decision]) -> tuple[str, ...]:
    found = []
    for decision in about:
        label = "question" if decision.question else "comment"
        if decision.comment.strip():
            found.append(f"{label}: {plain(decision.comment.strip())}")
        for remark in decision.remarks:
            first, last = _line_range(unit, range(remark.start, remark.end + 1))
            found.append(f"{label} (lines {first}-{last}): {plain(remark.text.strip())}")
    return tuple(dict.fromkeys(found))


def _line_range(unit: Unit, indexes: Sequence[int] = ()) -> tuple[int, int]:
    """Line numbers in the new file; in the old one if the new one has no line there."""
    if not indexes:
        if unit.new_count:
            return unit.new_start, unit.new_start + unit.new_count - 1
        return max(unit.old_start, 1), max(unit.old_start + unit.old_count - 1, 1)
    wanted, numbers = set(indexes), []
    at = unit.new_start if unit.new_count else unit.new_start + 1
    for index, line in enumerate(unit.lines):
        if index in wanted:
            numbers.append(at)
        at += line[:1] != b"-"
    numbers = numbers or [at]
    return numbers[0], numbers[-1]


def _diff(unit: Unit, chosen: frozenset[int] | None = None) -> list[str]:
    """The lines of a hunk; with a choice, other added lines are context, other removed ones are left out."""
    shown = []
    for at, line in enumerate(unit.lines):
        kind = line[:1]
        if chosen is not None and kind != b" " and at not in chosen:
            if kind == b"-":
                continue
            kind = b" "
        shown.append(plain(kind + line[1:].rstrip(b"\n")))
    return shown


def _edited(unit: Unit, edit: bytes) -> list[str]:
    """From the agent's lines to the user's, without what is common at both ends."""
    old, new = [line[1:] for line in unit.lines if line[:1] != b"-"], split_lines(edit)
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    marked = [b"-" + line for line in old] + [b"+" + line for line in new]
    return [plain(line.rstrip(b"\n")) for line in marked]


def _fitted(head: list[str], items: list[Item], footer: str, limit: int) -> str:
    """The text with as much of every hunk as fits; paths and comments go last."""
    least = _text(head, [_lines(item, 0) for item in items], footer)
    for most in _STEPS if _size(least) <= limit else ():
        text = _text(head, [_lines(item, most) for item in items], footer)
        if _size(text) <= limit:
            return text
    entries = [_lines(_short(item), 0) for item in items]
    room = limit - _size(_text(head, [[CUT]], footer))
    kept = 0
    for entry in entries:
        room -= _size("\n".join(entry)) + 1
        if room < 0:
            break
        kept += 1
    if kept:
        return _text(head, [*entries[:kept], [CUT]], footer)
    for fewer in (head, head[:2], head[:1], []):
        text = "\n".join([*fewer, CUT, footer]) + "\n"
        if _size(text) <= limit:
            return text
    return f"{CUT}\n" if limit > len(CUT) else ""


def _text(head: list[str], entries: list[list[str]], footer: str) -> str:
    lines = [*head, "", *(line for entry in entries for line in entry), "", footer]
    return "\n".join(lines) + "\n"


def _size(text: str) -> int:
    return len(text.encode())


def _lines(item: Item, most: int) -> list[str]:
    lines = [item.title]
    for comment in item.comments:
        lines += ["  " + comment.replace("\n", "\n    ")]
    if not item.diff:
        return lines
    diff = list(item.diff)
    if len(diff) > most:
        diff = [*diff[: (most + 1) // 2], CUT, *diff[len(diff) - most // 2 :]]
    if most < _STEPS[0]:
        # A single line may be longer than everything else.
        diff = [line if len(line) <= 20 * (most + 10) else CUT for line in diff]
    if set(diff) == {CUT}:
        return [*lines, f"  {CUT}"]
    fence = "`" * max([3, *(len(run) + 1 for line in diff for run in _TICKS.findall(line))])
    return [*lines, f"  {fence}diff", *(f"  {line}" for line in diff), f"  {fence}"]


def _short(item: Item) -> Item:
    comments = tuple(
        text if len(text) <= _SHORT_COMMENT else f"{text[:_SHORT_COMMENT]} {CUT}" for text in item.comments
    )
    return Item(item.title[: 2 * _SHORT_COMMENT], comments)
