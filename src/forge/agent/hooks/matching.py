"""Which hooks an event concerns: the `matcher` of a group and the `if` of a handler. Pure functions."""

from __future__ import annotations

import re
from functools import lru_cache

# What lists of names consist of.
_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_|"
_LIST = f"{_NAMES}-, \t\n\r\f\v"

# The tool's former name still selects it.
_ALIASES = {"Agent": ("Agent", "Task")}

# Their match values contain these characters, so a list is only one of plain words.
_REGEX_EVENTS = ("FileChanged", "StopFailure")


def matches(matcher: str, value: str, event: str) -> bool:
    """Whether a matcher accepts a value: everything, a list of exact names, or an unanchored pattern."""
    if matcher in ("", "*"):
        return True
    listing = not matcher.strip(_NAMES if event in _REGEX_EVENTS else _LIST)
    if value in _ALIASES:
        return any(_accepts(matcher, v, listing) for v in _ALIASES[value])
    return _accepts(matcher, value, listing)


def _accepts(matcher: str, value: str, listing: bool) -> bool:
    if listing:
        return value in matcher and value in _listed(matcher)
    # Most patterns begin with a word; one that is not in the value spares reading the pattern at all.
    lead = None if "|" in matcher else _lead().match(matcher)
    if lead is not None and lead[1] not in value:
        return False
    pattern = compiled(matcher)
    return pattern is not None and pattern.search(value) is not None


@lru_cache(maxsize=1)
def _lead() -> re.Pattern[str]:
    """A word every match has to contain: it is not optional (alternatives are looked at apart)."""
    return re.compile(r"\^?([A-Za-z0-9_]+)(?![A-Za-z0-9_]*[*?{])")


def _listed(matcher: str) -> frozenset[str]:
    return frozenset(name.strip() for name in re.split(r"[|,]", matcher))


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern as the reference's language reads it; None if it is not valid there."""
    if re.search(r"(?<!\\)\(\?(?:[aiLmsux]|P[<=])", pattern):
        return None
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern))
    except re.error:
        return None
