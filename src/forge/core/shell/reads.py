"""Which files a command has shown to the model: `cat FILE` counts as reading it, `head` as reading a part."""

from __future__ import annotations

import os
import re

from forge.core.seen import stamp
from forge.core.shell.words import Simple
from forge.core.tool import ToolContext

# They print nothing of a file and change nothing about which file a name means.
_NEUTRAL = frozenset(("echo", "printf", "true", ":"))
_GREPS = frozenset(("grep", "egrep", "fgrep", "rg"))
_GREP_FLAGS = re.compile(r"-[niEFwxHhABC0-9]+|--color=never")
_MAX_BYTES = 1 << 20


def mark_shown(commands: list[Simple] | None, output: str, ctx: ToolContext, cwd: str) -> None:
    """Notes the files a successful command has printed."""
    if not commands or not output:
        return
    shown = [_shown(c) for c in commands]
    if any(s is None for s in shown) or any(c.after in ("|", "||", "&") for c in commands):
        return
    for item in shown:
        if item is not None and item[0]:
            _mark(os.path.normpath(os.path.join(cwd, item[0])), item[1], ctx)


def _shown(command: Simple) -> tuple[str, int | None] | None:
    """The file and how many lines of it (None: all, 0: an unknown part); "" for none; None if unclear."""
    words = [w for n, w in enumerate(command.words) if not _is_assignment(command.words, n)]
    if not words or words[0] in _NEUTRAL:
        return "", None
    if not command.plain or command.redirected:
        return None
    name, *rest = words
    reader = _READERS.get(name)
    if reader is None:
        return (rest[-1], 0) if name in _GREPS and _is_simple_grep(rest) else None
    pattern, whole = reader
    match = pattern.fullmatch(" ".join(rest[:-1])) if rest else None
    if match is None or rest[-1].startswith("-"):
        return None
    if whole:
        return rest[-1], None
    return rest[-1], int(match[1] or 10) if name == "head" else 0


_READERS = {
    "cat": (re.compile(r"(?:-n)?"), True),
    "nl": (re.compile(r"(?:-ba)?"), True),
    "head": (re.compile(r"(?:(?:-n ?|-|--lines=)(\d+))?"), False),
    "tail": (re.compile(r"(?:(?:-n ?|-|--lines=)\d+)?"), False),
    "sed": (re.compile(r"-n \d+(?:,\d+)?p"), False),
}


def _is_assignment(words: tuple[str, ...], index: int) -> bool:
    return all(re.match(r"[A-Za-z_]\w*=", w) for w in words[: index + 1])


def _is_simple_grep(rest: list[str]) -> bool:
    names = [w for w in rest if not _GREP_FLAGS.fullmatch(w)]
    return len(names) == 2 and not any(n.startswith("-") for n in names) and rest[-1] == names[-1]


def _mark(path: str, lines: int | None, ctx: ToolContext) -> None:
    try:
        status = os.stat(path)
        if status.st_size > _MAX_BYTES:
            return
        with open(path, "rb") as file:
            raw = file.read(_MAX_BYTES)
    except OSError:
        return
    partial = lines is not None and lines <= raw.count(b"\n") + 1
    ctx.seen[path] = stamp(status, None if partial else raw, partial=partial)
