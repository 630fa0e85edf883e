"""Reads git's unified diffs as bytes: only the counts in a header say where a hunk ends."""

from __future__ import annotations

import re

import msgspec

from forge.foundation.errors import ForgeError

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_END = b"\\"
CONTEXT = 3


class DiffError(ForgeError):
    """A diff that is not in the form git was asked for."""


class Hunk(msgspec.Struct, frozen=True):
    """A hunk with git's line numbers; see `Unit` for its lines."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[bytes, ...]


def split_lines(content: bytes) -> list[bytes]:
    """Lines with their ends; only LF ends a line."""
    lines = content.split(b"\n")
    last = lines.pop()
    whole = [line + b"\n" for line in lines]
    return [*whole, last] if last else whole


def parse(diff: bytes) -> list[tuple[bytes, list[Hunk]]]:
    """The sections of a diff: the line that begins one (`diff --git …`) and its hunks."""
    lines = split_lines(diff)
    sections: list[tuple[bytes, list[Hunk]]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(b"diff --git "):
            sections.append((line.rstrip(b"\n"), []))
        elif line.startswith(b"@@ "):
            hunk, at = _hunk(lines, at - 1)
            if not sections:
                raise DiffError("a hunk stands before any file in git's output")
            sections[-1][1].append(hunk)
        elif line.startswith((b"@@@", b"diff --cc", b"diff --combined", b"\x1b")):
            raise DiffError("git printed a diff of a kind that cannot be reviewed (combined or coloured)")
    return sections


def _hunk(lines: list[bytes], at: int) -> tuple[Hunk, int]:
    found = _HUNK.match(lines[at])
    if not found:
        raise DiffError(f"not a hunk header: {lines[at][:80]!r}")
    old_start, old_count, new_start, new_count = (1 if part is None else int(part) for part in found.groups())
    at += 1
    old, new, first = old_count, new_count, at
    ends: list[int] = []
    while old > 0 or new > 0:
        kind = lines[at][:1] if at < len(lines) else b""
        if kind == b" ":
            old -= 1
            new -= 1
        elif kind == b"-":
            old -= 1
        elif kind == b"+":
            new -= 1
        elif kind == _NO_END and at > first:
            ends.append(at)
        else:
            raise DiffError(f"line {at + 1} of git's output does not belong to the hunk it is in")
        at += 1
    if at < len(lines) and lines[at][:1] == _NO_END:
        ends.append(at)
        at += 1
    if old or new:
        raise DiffError(f"the hunk before line {at + 1} of git's output has other counts than it says")
    body = _body(lines[first:at], first, ends)
    _check_context(body, max(old_start, new_start))
    return Hunk(old_start, old_count, new_start, new_count, body), at


def _body(lines: list[bytes], first: int, ends: list[int]) -> tuple[bytes, ...]:
    for end in reversed(ends):
        lines[end - first - 1] = lines[end - first - 1][:-1]
        del lines[end - first]
    return tuple(lines)


def _check_context(body: tuple[bytes, ...], start: int) -> None:
    """Hunks with less context than was asked for could be put in the wrong place."""
    leading = next((at for at, line in enumerate(body) if line[:1] != b" "), CONTEXT)
    if leading < CONTEXT and start > 1:
        raise DiffError(f"git printed a hunk with less than {CONTEXT} lines of context")
