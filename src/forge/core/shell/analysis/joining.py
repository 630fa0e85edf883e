"""Line breaks behind a backslash that glue two pieces of text: the grammar takes them for blanks."""

from __future__ import annotations

import re

from forge.core.shell.analysis.scan import Scanner, Unclosed

_BREAK = "\\\n"
_BLANKS = frozenset(" \t\n")


def join_lines(text: str) -> tuple[str, list[int]]:
    """The text without the line breaks that glue, and where in the new text each was taken out."""
    if _BREAK not in text or re.search(r"(?<!<)<<(?!<)", text):
        return text, []
    scanner, pieces, cuts, begin, length = Scanner(text), [], [], 0, 0
    try:
        while scanner.at < len(text):
            at = scanner.at
            if text.startswith(_BREAK, at) and scanner.stack[-1] not in "DE" and _glues(text, at):
                pieces.append(text[begin:at])
                length += at - begin
                cuts.append(length)
                begin = at + 2
            scanner.advance()
    except Unclosed:
        return text, []
    return "".join([*pieces, text[begin:]]), cuts


def original(span: tuple[int, int], cuts: list[int]) -> tuple[int, int]:
    """A span of the joined text in the text as it was given."""
    start, end = span
    return start + 2 * sum(cut <= start for cut in cuts), end + 2 * sum(cut < end for cut in cuts)


def _glues(text: str, at: int) -> bool:
    before = at
    while text[max(before - 2, 0) : before] == _BREAK:
        before -= 2
    after = at
    while text.startswith(_BREAK, after):
        after += 2
    first, last = text[before - 1 : before], text[after : after + 1]
    return bool(first and last) and first not in _BLANKS and last not in _BLANKS
