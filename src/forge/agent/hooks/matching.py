"""Which hooks an event concerns: the `matcher` of a group and the `if` of a handler. Pure functions."""

from __future__ import annotations

import re
from functools import lru_cache

_LIST = re.compile(r"[A-Za-z0-9_\-\s,|]*\Z")
_NAMES = re.compile(r"[A-Za-z0-9_|]*\Z")

# The tool's former name still selects it.
_ALIASES = {"Agent": ("Agent", "Task")}

# Their match values contain these characters, so a list is only one of plain words.
_REGEX_EVENTS = ("FileChanged", "StopFailure")


def matches(matcher: str, value: str, event: str) -> bool:
    """Whether a matcher accepts a value: everything, a list of exact names, or an unanchored pattern."""
    read = _read(matcher, event in _REGEX_EVENTS)
    if read is None:
        return False
    values = _ALIASES.get(value) or (value,)
    if isinstance(read, frozenset):
        return not read or not read.isdisjoint(values)
    return any(read.search(v) for v in values)


@lru_cache(maxsize=4096)
def _read(matcher: str, words_only: bool) -> frozenset[str] | re.Pattern[str] | None:
    """A matcher as the names it lists (none means all), as a pattern, or None if it is neither."""
    if matcher in ("", "*"):
        return frozenset()
    if (_NAMES if words_only else _LIST).match(matcher):
        return frozenset(name.strip() for name in re.split(r"[|,]", matcher))
    return compiled(matcher)


def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern as the reference's language reads it; None if it is not valid there."""
    if re.search(r"(?<!\\)\(\?(?:[aiLmsux]|P[<=])", pattern):
        return None
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern))
    except re.error:
        return None
