"""The simple YAML most front matter consists of, read without a YAML parser: much faster, same values."""

from __future__ import annotations

import re
from typing import Any

from forge.foundation.scalar import resolve

# Tabs, control characters and the further line breaks of YAML are left to the real parser.
_EXOTIC = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")
_FLOW = re.compile(r"""\[\ *(?:"([^"\\\n]*)"|'([^'\n]*)'|([^\n,\[\]{}"'\\]+))(?:\ *,(.*))?\]""", re.VERBOSE)
_NOT_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@` ")
_LONGEST_WORD = 5
# The parser has limits for large blocks; real ones are small.
_LONGEST = 8000
# As keys they would be taken for values.
_WORDS = frozenset({"true", "false", "null"})


class _NotPlain(ValueError):
    """The block needs the real parser."""


def read_plain(raw: str) -> tuple[dict[str, Any], dict[str, int]] | None:
    """The values of a block and the lines of its keys; None when it is not made of simple lines."""
    if len(raw) > _LONGEST or _EXOTIC.search(raw):
        return None
    try:
        return _read(raw)
    except _NotPlain:
        return None


def _read(raw: str) -> tuple[dict[str, Any], dict[str, int]]:
    values: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    lines = raw.split("\n")
    index, end = 0, len(lines)
    while index < end:
        line = lines[index].rstrip(" \r")
        index += 1
        if not line:
            continue
        key, colon, rest = line.partition(":")
        if not colon or (rest and rest[0] != " ") or not _KEY.fullmatch(key) or key.lower() in _WORDS:
            raise _NotPlain
        numbers[key] = index
        if rest:
            values[key] = _value(rest.lstrip(" "))
        else:
            values[key], index = _items(lines, index)
    return values, numbers


def _value(text: str) -> Any:
    first = text[0]
    if first == "[":
        return _flow(text)
    if first in "\"'":
        inside = text[1:-1]
        if len(text) < 2 or text[-1] != first or first in inside or (first == '"' and "\\" in inside):
            raise _NotPlain
        return inside
    if first in _NOT_FIRST or ": " in text or " #" in text or text[-1] == ":":
        raise _NotPlain
    # What resolves to something else begins differently or is short.
    return text if first.isalpha() and len(text) > _LONGEST_WORD else resolve(text)


def _items(lines: list[str], index: int) -> tuple[list[Any] | None, int]:
    """The lines `- item` below a key without a value; None when there are none."""
    found: list[Any] = []
    indent = None
    while index < len(lines):
        entry = lines[index].lstrip(" ")
        if not entry.startswith("- "):
            break
        before = len(lines[index]) - len(entry)
        text = entry[2:].strip(" \r")
        if indent not in (None, before) or not text or text[0] == "[":
            raise _NotPlain
        indent = before
        value = _value(text)
        if value is None:
            raise _NotPlain
        found.append(value)
        index += 1
    return found or None, index


def _flow(text: str) -> list[Any]:
    """A list on one line, `[a, "b c"]`."""
    found: list[Any] = []
    rest: str | None = text[1:-1].strip(" ")
    if text[-1] != "]":
        raise _NotPlain
    while rest:
        entry = _FLOW.fullmatch(f"[{rest}]")
        if entry is None:
            raise _NotPlain
        plain = entry[3].strip(" ") if entry[3] is not None else None
        if plain is not None and (not plain or plain[0] in _NOT_FIRST or ":" in plain or "#" in plain):
            raise _NotPlain
        found.append(resolve(plain) if plain is not None else entry[1] if entry[2] is None else entry[2])
        rest = entry[4].strip(" ") if entry[4] is not None else None
    return found
