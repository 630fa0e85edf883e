"""Private characters that carry the meaning of unquoted signs through an expansion, and what ends it."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.state import Word

STAR, MARK, BRACKET = "\ue001", "\ue002", "\ue003"
OPEN, COMMA, CLOSE = "\ue010", "\ue011", "\ue012"
SPLIT, QUOTED, TILDE = "\ue013", "\ue014", "\ue015"

_GLOB = {"*": STAR, "?": MARK, "[": BRACKET}
_ACTIVE = {**_GLOB, "{": OPEN, ",": COMMA, "}": CLOSE}
_PLAIN = str.maketrans({**{v: k for k, v in _ACTIVE.items()}, QUOTED: "", SPLIT: " ", TILDE: "~"})
_ACTIVATE = str.maketrans(_ACTIVE)
_GLOB_ONLY = str.maketrans(_GLOB)
_MOST_ALTERNATIVES = 64


def activate(text: str) -> str:
    """Unquoted literal text: patterns, braces and a leading tilde are active; backslashes quote."""
    if not _special().search(text):
        return text
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            following = text[at + 1 : at + 2]
            out.append("" if following == "\n" else following + QUOTED)
            at += 2
            continue
        if char == "$" and (missed := _expansion().match(text, at)):
            # An expansion the grammar took for text.
            out.append(UNKNOWN)
            at = missed.end()
            continue
        out.append(TILDE if char == "~" and _tilde_place(text, at) else char.translate(_ACTIVATE))
        at += 1
    return "".join(out)


def _tilde_place(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in "=:"


def unquoted_value(value: str, separators: str) -> str:
    """The value of an unquoted expansion: it is split into words and its patterns are active."""
    found = value.translate(_GLOB_ONLY)
    for separator in separators:
        found = found.replace(separator, SPLIT)
    return found


def plain(text: str) -> str:
    """The text without marks, as in an assignment."""
    return text.translate(_PLAIN)


def fields(raw: str, home: str, tags: frozenset[str]) -> list[Word]:
    """The words of an expanded text: braces, splitting, tilde."""
    found = []
    for alternative in _braces(raw):
        for field in alternative.split(SPLIT):
            if field:
                found.append(_word(field, home, tags))
    return found


def _word(field: str, home: str, tags: frozenset[str]) -> Word:
    glob = STAR in field or MARK in field or BRACKET in field
    quoted = QUOTED in field
    if TILDE in field:
        field = expand_tilde(field, home)
    return Word(plain(field), glob, quoted, tags)


def expand_tilde(text: str, home: str) -> str:
    """Replaces `~` and `~name` at the start of a word and after `=` or `:`."""

    def put(match: re.Match[str]) -> str:
        name = match[1]
        if not name:
            return home
        if name in "+-":
            return match[0]
        return "/" + name if name == "root" else f"/home/{name}"

    return _tilde().sub(put, text)


def _braces(raw: str, depth: int = 0) -> list[str]:
    start = raw.find(OPEN)
    if start < 0 or depth > 8:
        return [raw]
    end = _closing(raw, start)
    if end < 0:
        return [raw]
    choices = _choices(raw[start + 1 : end])
    if choices is None:
        rest = _braces(raw[start + 1 :], depth + 1)
        return ["".join((raw[:start], "{", r)) for r in rest]
    tails = _braces(raw[end + 1 :], depth + 1)
    heads = [piece for choice in choices for piece in _braces(choice, depth + 1)]
    made = [raw[:start] + head + tail for head in heads for tail in tails]
    return made[:_MOST_ALTERNATIVES]


def _closing(raw: str, start: int) -> int:
    depth = 0
    for at in range(start, len(raw)):
        depth += (raw[at] == OPEN) - (raw[at] == CLOSE)
        if depth == 0:
            return at
    return -1


def _choices(inner: str) -> list[str] | None:
    parts: list[str] = []
    current: list[str] = []
    depth = 0
    for char in inner:
        depth += (char == OPEN) - (char == CLOSE)
        if char == COMMA and depth == 0:
            parts.append("".join(current))
            current = []
        else:
            current.append(char)
    parts.append("".join(current))
    return parts if len(parts) > 1 else _range(inner)


def _range(inner: str) -> list[str] | None:
    match = _sequence().fullmatch(plain(inner))
    if not match:
        return None
    first, last = match[1], match[2]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = int(first), int(last)
        step = 1 if high >= low else -1
        return [str(n) for n in range(low, high + step, step)[:_MOST_ALTERNATIVES]]
    if len(first) == len(last) == 1:
        step = 1 if last >= first else -1
        return [chr(n) for n in range(ord(first), ord(last) + step, step)[:_MOST_ALTERNATIVES]]
    return None


@functools.cache
def _special() -> re.Pattern[str]:
    return re.compile(r"[\\*?\[{},~$]")


@functools.cache
def _expansion() -> re.Pattern[str]:
    return re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?!$-])")


@functools.cache
def _tilde() -> re.Pattern[str]:
    return re.compile(f"(?:(?<=[=:])|(?<![^{QUOTED}])){TILDE}([\\w.+-]*)")


@functools.cache
def _sequence() -> re.Pattern[str]:
    return re.compile(r"(-?\w+)\.\.(-?\w+)(?:\.\.-?\d+)?")
