"""`claudeMdExcludes`: globs on absolute paths of memory files that are not to be used."""

from __future__ import annotations

import re
from collections.abc import Callable

_PIECE = r"(?s)\*\*/|\*\*|\*|\?|\{[^{}]*\}|\[[^\]]+\]|."
_FIXED = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def excluder(patterns: list[str]) -> Callable[[str], bool]:
    """A test for paths that any of the patterns covers."""
    if not patterns:
        return lambda path: False
    tests = [(_expression(p), not p.startswith("!")) for p in patterns]
    return lambda path: any((e.fullmatch(path) is not None) is wanted for e, wanted in tests)


def _expression(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(_translated(pattern.removeprefix("!")))
    except re.error:
        return re.compile(re.escape(pattern))


def _translated(pattern: str) -> str:
    # `**/x` is meant for absolute paths: it may start with the slash of the root.
    start = "/" if pattern.startswith("**") else ""
    return start + "".join(_piece(piece) for piece in re.findall(_PIECE, pattern))


def _piece(piece: str) -> str:
    if piece in _FIXED:
        return _FIXED[piece]
    if len(piece) > 1 and piece.startswith("{"):
        return "(?:" + "|".join(_translated_part(p) for p in piece[1:-1].split(",")) + ")"
    if len(piece) > 2 and piece.startswith("["):
        inside = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return "[" + ("^" + inside[1:] if inside.startswith("!") else inside) + "]"
    return re.escape(piece)


def _translated_part(pattern: str) -> str:
    return "".join(_piece(piece) for piece in re.findall(_PIECE, pattern))
