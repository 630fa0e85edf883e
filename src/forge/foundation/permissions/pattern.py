"""Path patterns of Read and Edit rules: gitignore style, anchored where the rule was written."""

from __future__ import annotations

import os.path
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation

_PIECE = r"(?s)^\*\*/|/\*\*/|/\*\*$|\*+|\?|\[[^\]]+\]|\\.|."
_FIXED = {"**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "/.+", "?": "[^/]"}


def matches_path(rule: Rule, path: str, s: Situation) -> bool:
    """Whether the rule's pattern covers an absolute path or a directory above it."""
    root, pattern = _anchored(rule, s)
    if pattern.startswith(("!", "#")):
        return False
    expression = _expression(pattern, anywhere=rule.behavior != "allow")
    roots = {root, os.path.realpath(root)}
    return any(expression.fullmatch(part) for part in (_below(path, top) for top in roots) if part)


def _anchored(rule: Rule, s: Situation) -> tuple[str, str]:
    content = (rule.content or "").rstrip(" ")
    if content.startswith("//"):
        return "/", "/" + content.lstrip("/")
    if content.startswith("~/"):
        return s.home, content[1:]
    if content.startswith("/"):
        return rule.anchor or s.start_dir, content
    return s.start_dir, content.removeprefix("./")


def _below(path: str, root: str) -> str:
    """The path relative to the root, or nothing if it is not below it."""
    prefix = root if root.endswith("/") else root + "/"
    return path[len(prefix) :] if path.startswith(prefix) else ""


def _expression(pattern: str, *, anywhere: bool) -> re.Pattern[str]:
    whole = pattern.removesuffix("/**")
    if whole != pattern and not anywhere and "/" not in whole and whole != "**":
        whole = "/" + whole
    directory = whole.endswith("/")
    whole = whole.rstrip("/")
    anchored = "/" in whole
    if not whole:
        body = ".+" if pattern.endswith("/**") else r"(?!)"
        return re.compile(body, re.DOTALL)
    start = "" if anchored else "(?:.*/)?"
    tail = "/.*" if directory else "(?:/.*)?"
    return compiled(start + translate(whole.removeprefix("/")) + tail)


def compiled(expression: str) -> re.Pattern[str]:
    """The expression; as in the reference one that cannot be meant, like `[z-a]`, matches nothing."""
    try:
        return re.compile(expression, re.IGNORECASE | re.DOTALL)
    except re.error:
        return re.compile("(?!)")


def translate(pattern: str) -> str:
    """A pattern in the manner of gitignore as a regular expression."""
    return "".join(_piece(piece) for piece in re.findall(_PIECE, pattern))


def _piece(piece: str) -> str:
    fixed = _FIXED.get(piece)
    if fixed:
        return fixed
    if piece.startswith("*"):
        return "[^/]*"
    if piece.startswith("[") and len(piece) > 2:
        inside = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return "[" + ("^" + inside[1:] if inside.startswith("!") else inside) + "]"
    return re.escape(piece[1:] if piece.startswith("\\") and len(piece) > 1 else piece)
