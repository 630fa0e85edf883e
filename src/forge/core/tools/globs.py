"""Globs and ignore files in the manner of git, for searches without ripgrep."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec


class Globs:
    """Which names a list of globs lets through: `!` excludes, otherwise one must match."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._wanted = [translate(p) for p in patterns if p and not p.startswith("!")]
        self._unwanted = [translate(p[1:]) for p in patterns if p.startswith("!")]

    def accept(self, name: bytes) -> bool:
        if any(p.fullmatch(name) for p in self._unwanted):
            return False
        return not self._wanted or self.asks_for(name)

    def asks_for(self, name: bytes) -> bool:
        """Whether a glob names it, which counts more than an ignore file."""
        return any(p.fullmatch(name) for p in self._wanted)


def translate(glob: str) -> re.Pattern[bytes]:
    """A glob as an expression over relative paths; without a slash it matches in any directory."""
    anchored = "/" in glob.rstrip("/")
    text = _expression(glob.lstrip("/"))
    return re.compile((text if anchored else f"(?:.*/)?{text}").encode(), re.DOTALL)


def _expression(glob: str) -> str:
    parts: list[str] = []
    depth = 0
    for token in re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^\]]*\]|\\.|.", glob, re.DOTALL):
        if token == "[":
            raise ValueError(f"error parsing glob '{glob}': unclosed character class; missing ']'")
        depth += (token == "{") - (token == "}" and depth > 0)
        if token in _TOKENS:
            parts.append(_TOKENS[token])
        elif token[0] == "[":
            parts.append("[" + token[1:-1].replace("\\", "\\\\").replace("!", "^", token[1] == "!") + "]")
        elif token == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(token[-1]))
    return "".join(parts)


_TOKENS = {
    "**/": "(?:.*/)?",
    "/**": "/.*",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
    "{": "(?:",
    "}": ")",
}


class Rule(msgspec.Struct, frozen=True):
    folder: bytes
    pattern: re.Pattern[bytes]
    keeps: bool
    only_folders: bool


class Ignored:
    """The rules of the ignore files from the repository's root down to a directory."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules

    def entering(self, folder: bytes) -> Ignored:
        """The rules that hold inside a directory."""
        return Ignored((*self._rules, *_rules(folder)))

    def covers(self, path: bytes, *, is_dir: bool) -> bool:
        """Whether the last rule about a path says that it is ignored."""
        for rule in reversed(self._rules):
            inside = path[len(rule.folder) + 1 :]
            if (is_dir or not rule.only_folders) and rule.pattern.fullmatch(inside):
                return not rule.keeps
        return False


def read_ignored(start: bytes) -> Ignored | None:
    """The rules above a directory; None outside of a repository, where ignore files mean nothing."""
    folder = start
    above: list[bytes] = []
    while True:
        if os.path.exists(os.path.join(folder, b".git")):
            folders = reversed(above)
            return Ignored(tuple(rule for f in folders for rule in _rules(f)))
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
        above.append(folder)


def _rules(folder: bytes) -> list[Rule]:
    try:
        with open(os.path.join(folder, b".gitignore"), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return []
    rules: list[Rule] = []
    for line in lines:
        if line and not line.startswith("#"):
            text = line.removeprefix("!")
            pattern = translate(text.rstrip("/"))
            rules.append(Rule(folder, pattern, line.startswith("!"), text.endswith("/")))
    return rules
