"""Versions and version ranges as npm understands them; dependencies and npm sources use them."""

from __future__ import annotations

import re

_VERSION = re.compile(r"[v=\s]*(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$")
_PARTIAL = re.compile(
    r"[v=\s]*(\d+|[xX*])?(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+\S+)?$"
)
_COMPARATOR = re.compile(r"\s*(>=|<=|>|<|=|\^|~>?)?\s*(\S+)")

Version = tuple[int, int, int, tuple[tuple[int, int, str], ...]]
_RELEASE = ((2, 0, ""),)  # sorts behind every pre-release


def parse_version(text: str) -> Version | None:
    """A complete version, ready to be compared; None when the text is none."""
    match = _VERSION.match(text.strip())
    if match is None:
        return None
    return int(match[1]), int(match[2]), int(match[3]), _tail(match[4])


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version lies in a range; a range that cannot be read is met by everything."""
    parsed = parse_version(version)
    try:
        choices = [_bounds(part) for part in wanted.split("||")]
    except ValueError:
        return True
    return parsed is not None and any(_inside(parsed, bounds) for bounds in choices)


def best(versions: list[str], wanted: str) -> str:
    """The highest version in a range, or an empty string."""
    known = [(parsed, text) for text in versions if (parsed := parse_version(text)) is not None]
    fitting = [pair for pair in known if satisfies(pair[1], wanted)]
    return max(fitting)[1] if fitting else ""


_Bound = tuple[str, Version]


def _inside(version: Version, bounds: list[_Bound]) -> bool:
    if version[3] != _RELEASE and not any(b[:3] == version[:3] and b[3] != _RELEASE for _, b in bounds):
        return False  # a pre-release counts only where the range names one of the same release
    return all(_holds(version, sign, bound) for sign, bound in bounds)


def _holds(version: Version, sign: str, bound: Version) -> bool:
    if sign == ">=":
        return version >= bound
    if sign == ">":
        return version > bound
    return version < bound if sign == "<" else version <= bound


def _bounds(text: str) -> list[_Bound]:
    low, hyphen, high = text.partition(" - ")
    if hyphen:
        return [*_comparator(">=", low), *_comparator("<=", high)]
    found: list[_Bound] = []
    for sign, partial in _COMPARATOR.findall(text):
        found += _comparator(sign, partial)
    return found


def _comparator(sign: str, text: str) -> list[_Bound]:
    match = _PARTIAL.match(text.strip())
    if match is None:
        raise ValueError(text)
    numbers = [int(part) for part in _leading(match.groups()[:3])]
    low = _version([*numbers, 0, 0, 0][:3], match[4])
    if not numbers:
        return []
    whole = len(numbers) == 3
    if sign in ("<", ">=") or (sign in (">", "<=") and whole):
        return [(sign, low)]
    if sign in (">", "<="):
        return [(">=" if sign == ">" else "<", _above(numbers))]
    if sign == "^":
        return [(">=", low), ("<", _above(_caret(numbers)))]
    if sign.startswith("~"):
        return [(">=", low), ("<", _above(numbers[:2]))]
    return [(">=", low), ("<=", low)] if whole else [(">=", low), ("<", _above(numbers))]


def _caret(numbers: list[int]) -> list[int]:
    for index, number in enumerate(numbers):
        if number:
            return numbers[: index + 1]
    return numbers


def _above(numbers: list[int]) -> Version:
    raised = [*numbers[:-1], numbers[-1] + 1]
    # "-0" is below every pre-release: 2.0.0-beta is not inside ^1.0.0.
    return _version([*raised, 0, 0, 0][:3], "0")


def _leading(parts: tuple[str | None, ...]) -> list[str]:
    found = []
    for part in parts:
        if part is None or part in "xX*":
            break
        found.append(part)
    return found


def _version(numbers: list[int], tail: str | None) -> Version:
    return numbers[0], numbers[1], numbers[2], _tail(tail)


def _tail(text: str | None) -> tuple[tuple[int, int, str], ...]:
    if text is None:
        return _RELEASE
    return tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in text.split("."))
