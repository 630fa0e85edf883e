"""The part of a long output that a model gets to see, and how it can get the rest."""

from __future__ import annotations

import re

_HEAD, _TAIL = 0.40, 0.45
_MOST_ERRORS = 20
_LONGEST_ERROR = 300
_ERROR = re.compile(
    r"\b(?:error|errors|fatal|panic(?:ked)?|exception|traceback|failed|failure|segfault|undefined|cannot|denied"
    r"|assert(?:ion)?error)\b|^E\s{2,}|\bFAIL\b|✗|✘|×",
    re.IGNORECASE,
)


def excerpt(text: str, limit: int, *, source: str = "") -> str:
    """At most about `limit` characters: start, lines about errors from the middle, end; short text as it is.

    `source` says where the whole can be had, for example the number of a history entry.
    """
    if len(text) <= limit:
        return text
    head = _cut_after(text, int(limit * _HEAD))
    tail = _cut_before(text, len(text) - int(limit * _TAIL))
    middle = text[head:tail]
    errors = _errors(middle, int(limit * (1 - _HEAD - _TAIL)) - 200)
    where = f" Whole output: {source}." if source else ""
    note = f"[... {len(middle)} characters, {middle.count(chr(10))} lines omitted.{where} ...]"
    if errors:
        note += "\n[lines about errors among them:]\n" + "\n".join(errors) + "\n[...]"
    return f"{text[:head].rstrip(chr(10))}\n{note}\n{text[tail:]}"


def _cut_after(text: str, place: int) -> int:
    """The end of the last whole line before a place, unless that line is very long."""
    found = text.rfind("\n", 0, place) + 1
    return found if found > place // 2 else place


def _cut_before(text: str, place: int) -> int:
    found = text.find("\n", place) + 1
    return found if 0 < found < place + (len(text) - place) // 2 else place


def _errors(text: str, room: int) -> list[str]:
    found: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if len(found) == _MOST_ERRORS or room <= 0:
            break
        if _ERROR.search(line):
            short = line.strip()[:_LONGEST_ERROR]
            found.append(f"{number + 1}: {short}")
            room -= len(found[-1]) + 1
    return found
