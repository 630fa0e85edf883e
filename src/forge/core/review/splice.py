"""Puts old lines in the place of rejected new ones, byte for byte and by line number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from forge.core.review.choose import Choice
from forge.core.review.hunks import split_lines
from forge.core.review.model import Unit, blocks
from forge.core.review.pairing import in_order
from forge.core.review.repository import Refused
from forge.foundation.errors import ForgeError


def without(
    new: Sequence[bytes],
    old: Sequence[bytes],
    units: Sequence[Unit],
    choices: Mapping[str, Choice],
    also_pending: bool = False,
) -> bytes:
    """The new lines of a file without what was rejected, and with the user's edits.

    `new` and `old` may be the lines on disk instead of the stored ones, if they correspond one to one.
    `also_pending` takes away what has not been decided as well.
    """
    lines = list(new)
    end = line_end(new) or line_end(old) or b"\n"
    for unit in reversed(units):
        choice = choices[unit.id]
        start = unit.new_start - 1 if unit.new_count else unit.new_start
        gone = choice.rejected | choice.pending if also_pending else choice.rejected
        if choice.edit is not None:
            lines[start : start + unit.new_count] = split_lines(_in_style(choice.edit, end))
        elif gone:
            lines[start : start + unit.new_count] = _chosen(unit, new, old, gone)
    return b"".join(_joined(lines, end))


def check(new: Sequence[bytes], old: Sequence[bytes], units: Sequence[Unit]) -> None:
    """Makes sure that the hunks describe the way between these contents exactly."""
    forth, back = list(old), list(new)
    for unit in reversed(units):
        at_new = unit.new_start - 1 if unit.new_count else unit.new_start
        at_old = unit.old_start - 1 if unit.old_count else unit.old_start
        new_side = [line[1:] for line in unit.lines if line[:1] != b"-"]
        old_side = [line[1:] for line in unit.lines if line[:1] != b"+"]
        if back[at_new : at_new + unit.new_count] != new_side:
            raise Refused("the file does not have the lines that were reviewed")
        back[at_new : at_new + unit.new_count] = old_side
        forth[at_old : at_old + unit.old_count] = new_side
    if back != list(old) or forth != list(new):
        raise ForgeError("the hunks of a file do not add up; nothing was changed")


def line_end(lines: Sequence[bytes]) -> bytes:
    """The line end most lines have; empty if none has any."""
    with_return = sum(line.endswith(b"\r\n") for line in lines)
    ended = sum(line.endswith(b"\n") for line in lines)
    if not ended:
        return b""
    return b"\r\n" if with_return * 2 > ended else b"\n"


def _chosen(unit: Unit, new: Sequence[bytes], old: Sequence[bytes], gone: frozenset[int]) -> list[bytes]:
    """The lines of a hunk's place: context, removed lines that come back, added lines that stay."""
    line_of = _places(unit, new, old)
    result: list[bytes] = []
    after = 0
    for run in blocks(unit):
        result += [line_of(at) for at in range(after, run.start)]
        for at in in_order(unit.lines, run):
            if (unit.lines[at][:1] == b"-") == (at in gone):
                result.append(line_of(at))
        after = run.stop
    return result + [line_of(at) for at in range(after, len(unit.lines))]


def _places(unit: Unit, new: Sequence[bytes], old: Sequence[bytes]) -> Callable[[int], bytes]:
    """Where each line of a hunk stands in the contents."""
    at_new = unit.new_start - 1 if unit.new_count else unit.new_start
    at_old = unit.old_start - 1 if unit.old_count else unit.old_start
    found: list[bytes] = []
    for line in unit.lines:
        kind = line[:1]
        found.append(old[at_old] if kind == b"-" else new[at_new])
        at_new += kind != b"-"
        at_old += kind != b"+"
    return found.__getitem__


def _in_style(edit: bytes, end: bytes) -> bytes:
    return edit.replace(b"\n", b"\r\n") if end == b"\r\n" and b"\r" not in edit else edit


def _joined(lines: list[bytes], end: bytes) -> list[bytes]:
    """A line that was the last of its file may now stand before another one."""
    last = len(lines) - 1
    return [line if line.endswith(b"\n") or at == last else line + end for at, line in enumerate(lines)]
