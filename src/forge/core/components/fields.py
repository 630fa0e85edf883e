"""Values of front matter as the reference reads them: texts, booleans, lists of tools and of words."""

from __future__ import annotations

import errno
import os
import re
from typing import Any

from forge.foundation.frontmatter import FrontMatter
from forge.foundation.origin import Diagnostic, Origin, Severity
from forge.foundation.scalar import as_text

EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})

MAX_FILE = 16 * 1024 * 1024

_CHUNK = 128 * 1024
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_TRUE = frozenset({"true", "yes", "on", "1"})
# A comma or a blank separates, except inside parentheses: `Bash(git add:*), Read`.
_TOOL = re.compile(r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s,])+")


def text_of(value: Any) -> str:
    """Text, numbers and booleans as text; lists and maps are nothing."""
    return as_text(value) if isinstance(value, str | bool | int | float) else ""


def shorten(text: str, limit: int, ending: str) -> str:
    """Text of more UTF-16 units than `limit`, cut so that it fits with its ending."""
    if len(text) * 2 <= limit:
        return text
    units = text.encode("utf-16-le", "replace")
    if len(units) <= limit * 2:
        return text
    return units[: (limit - len(ending)) * 2].decode("utf-16-le", "replace") + ending


def is_true(value: Any) -> bool:
    """`true`, `yes`, `on` and `1` in any case, quoted or not."""
    return isinstance(value, str | bool | int | float) and as_text(value).strip().lower() in _TRUE


def tool_list(value: Any) -> list[str]:
    """Tools from a text or a list; each entry may hold several."""
    entries = value if isinstance(value, list) else [value]
    return [tool for entry in entries if isinstance(entry, str) for tool in _TOOL.findall(entry)]


def word_list(value: Any) -> list[str]:
    """Words from a text separated by white space, or from a list."""
    if isinstance(value, list):
        return [word for entry in value if (word := text_of(entry).strip())]
    return text_of(value).split()


def name_list(value: Any) -> list[str]:
    """Names from a text separated by commas, or from a list."""
    entries = value if isinstance(value, list) else text_of(value).split(",")
    return [name for entry in entries if (name := text_of(entry).strip())]


def one_of(values: dict[str, Any], key: str, known: frozenset[str]) -> str:
    """The value of a key if it is one of the known words."""
    value = values.get(key)
    return value if isinstance(value, str) and value in known else ""


def read_text(path: str, origin: Origin) -> tuple[str, Diagnostic | None]:
    """The text of a file, with U+FFFD for what is not UTF-8; a diagnostic when it cannot be read."""
    try:
        return text_from(path), None
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Check that the file exists and may be read."
        return "", Diagnostic(Severity.ERROR, f"cannot be read: {reason}", origin, hint)


def text_from(path: str) -> str:
    """The text of a file; OSError when there is none. Pipes and devices do not stop or fill the program."""
    handle = os.open(path, _READ)
    try:
        data = os.read(handle, _CHUNK)
        if len(data) == _CHUNK:
            data += _rest(handle)
    finally:
        os.close(handle)
    return data.decode("utf-8", "replace")


def _rest(handle: int) -> bytes:
    parts = []
    while part := os.read(handle, _CHUNK):
        parts.append(part)
        if len(parts) * _CHUNK >= MAX_FILE:
            raise OSError(errno.EFBIG, "the file is too large")
    return b"".join(parts)


def wrong(matter: FrontMatter, key: str, expected: str, origin: Origin) -> Diagnostic:
    """The warning about a value that is ignored."""
    line = matter.lines.get(key, 0)
    column = 1 if line else 0
    hint = f"Expected {expected}; the value is ignored."
    return Diagnostic(Severity.WARNING, f"{key} is not usable", origin, hint, line, column, key)
