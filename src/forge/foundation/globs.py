"""`paths` of rules and skills: patterns in the manner of gitignore, with braces, whatever the case."""

from __future__ import annotations

import re
from typing import Any

from forge.foundation.permissions.pattern import compiled, translate

MAX_PATTERNS = 1000


def read_patterns(value: Any) -> list[str] | None:
    """The patterns of a text (separated by commas) or a list; None when they leave nothing out."""
    entries = value if isinstance(value, list) else [value]
    texts = [entry for entry in entries if isinstance(entry, str)]
    patterns = [p for text in texts for part in _parts(text) if (p := part.strip())]
    return None if all(pattern == "**" for pattern in patterns) else patterns


def matches_paths(patterns: list[str], relative: str) -> bool:
    """Whether a file, given relative to where the patterns are anchored, is meant by them.

    As in gitignore the last pattern decides, and what is below a matched directory stays matched.
    """
    if not relative or relative.startswith(("../", "/")) or relative == "..":
        return False
    rules = [_rule(p) for pattern in patterns for p in _expanded(pattern)[:MAX_PATTERNS]]
    steps = relative.split("/")
    folders = ["/".join(steps[:n]) + "/" for n in range(1, len(steps))]
    return any(_verdict(rules, place) for place in [*folders, relative])


def _verdict(rules: list[tuple[re.Pattern[str], bool]], place: str) -> bool:
    for expression, wanted in reversed(rules):
        if expression.fullmatch(place):
            return wanted
    return False


def _rule(pattern: str) -> tuple[re.Pattern[str], bool]:
    wanted = not pattern.startswith("!")
    plain = pattern.removeprefix("!").rstrip()
    # Everything below a directory and the directory itself mean the same.
    body = plain.removesuffix("/**") or plain
    directory = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    if not body or body.startswith("#"):
        return re.compile("(?!)"), wanted
    translated = translate(body.removeprefix("/"))
    start = "" if anchored else "(?:.*/)?"
    return compiled(f"{start}{translated}{'/' if directory else '/?'}"), wanted


def _parts(text: str) -> list[str]:
    """The text cut at commas outside braces."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "{") - (letter == "}" and depth > 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _expanded(pattern: str) -> list[str]:
    """The patterns that one with braces stands for."""
    done: list[str] = []
    todo = [pattern]
    while todo and len(done) + len(todo) <= MAX_PATTERNS:
        current = todo.pop()
        group = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if group is None:
            done.append(current)
            continue
        before, after = current[: group.start()], current[group.end() :]
        todo += [before + choice + after for choice in group[1].split(",")]
    return done or [pattern]
