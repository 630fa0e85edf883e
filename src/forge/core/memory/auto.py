"""Auto memory: the directory in which the model keeps notes for later conversations, and its index."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from forge.core.memory.file import AUTO, MemoryFile
from forge.core.memory.read import Library
from forge.foundation.paths import Places, projects_dir, slug, trust_key

MAX_LINES = 200
MAX_CHARACTERS = 25_000
INDEX = "MEMORY.md"

_SHOWN = 80
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def auto_directory(p: Places, env: Mapping[str, str], setting: Callable[[str, Any], Any]) -> str:
    """Where the notes of this project are, with a slash at the end; empty if auto memory is off."""
    switch = env.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").lower()
    if switch in _ON or (switch not in _OFF and setting("autoMemoryEnabled", True) is False):
        return ""
    chosen = setting("autoMemoryDirectory", "")
    if isinstance(chosen, str) and chosen.startswith("~/"):
        chosen = os.path.join(p.home, chosen[2:])
    if isinstance(chosen, str) and os.path.isabs(chosen):
        return os.path.join(os.path.normpath(chosen), "")
    return os.path.join(projects_dir(p), slug(trust_key(p)), "memory", "")


def auto_memory(directory: str, library: Library) -> list[MemoryFile]:
    """The index of the notes, cut to what fits, if there is one."""
    if not directory:
        return []
    path = os.path.join(directory, INDEX)
    parsed = library.parsed(path)
    if parsed is None or not parsed.content.strip():
        return []
    return [MemoryFile(path, AUTO, cut(parsed.content.strip()))]


def cut(text: str) -> str:
    """The beginning of an index that fits, with a warning if something is missing."""
    lines = text.split("\n")
    total, size = len(lines), len(text)
    if total <= MAX_LINES and size <= MAX_CHARACTERS:
        return text
    kept = "\n".join(lines[:MAX_LINES])
    if len(kept) > MAX_CHARACTERS:
        end = kept.rfind("\n", 0, MAX_CHARACTERS + 1)
        kept = kept[: end if end > 0 else MAX_CHARACTERS]
    count = kept.count("\n") + 1
    first = lines[count] if count < total else ""
    shown = first if len(first) <= _SHOWN else f"{first[: _SHOWN - 1]}…"
    rest = (
        f'{total - count} of {total} lines were cut off, starting at line {count + 1} ("{shown}").'
        if count < total
        else "the end of its last line was cut off."
    )
    return (
        f"{kept}\n\n> WARNING: {INDEX} is {_measure(total, size)}. Only part of it was loaded: {rest}"
        " Keep index entries to one line under ~200 chars; move detail into topic files."
    )


def _measure(lines: int, size: int) -> str:
    amount = f"{size / 1024:.1f}KB"
    if size <= MAX_CHARACTERS:
        return f"{lines} lines (limit: {MAX_LINES})"
    if lines <= MAX_LINES:
        return f"{amount} (limit: {MAX_CHARACTERS / 1024:.1f}KB) — index entries are too long"
    return f"{lines} lines and {amount}"
