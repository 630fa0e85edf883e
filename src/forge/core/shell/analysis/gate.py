"""The lexical gate: characters that make a text mean something else to a reader, the parser or the shell."""

from __future__ import annotations

import functools
import re

_KINDS = (
    ("a NUL or control character", "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]"),
    ("a carriage return", "\r"),
    ("a character that changes the direction of the text", "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
    (
        "an invisible character",
        "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2064\ufeff"
        "\ufff9-\ufffb\U000e0000-\U000e007f]",
    ),
    ("a space that is not a blank to the shell", "[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
    ("a character of the private range", "[\ue000-\uf8ff]"),
    ("half of a character", "[\ud800-\udfff]"),
)


def suspicious(text: str) -> tuple[str, int] | None:
    """What kind of character makes the text ambiguous, and where; None for ordinary text."""
    if text.isascii() and text.isprintable():
        return None
    for what, pattern in _patterns():
        match = pattern.search(text)
        if match:
            return what, match.start()
    return None


@functools.cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(what, re.compile(pattern)) for what, pattern in _KINDS]
