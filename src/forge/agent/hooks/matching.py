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
    if matcher in ("", "*"):
        return True
    values = _ALIASES.get(value, (value,))
    plain = _NAMES if event in _REGEX_EVENTS else _LIST
    if plain.match(matcher):
        names = [name.strip() for name in re.split(r"[|,]", matcher)]
        return any(v in names for v in values)
    pattern = compiled(matcher)
    return pattern is not None and any(pattern.search(v) for v in values)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern as the reference's language reads it; None if it is not valid there."""
    if re.search(r"(?<!\\)\(\?(?:[aiLmsux]|P[<=])", pattern):
        return None
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern))
    except re.error:
        return None
