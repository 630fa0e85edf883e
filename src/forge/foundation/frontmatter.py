"""YAML front matter of Markdown files: read as tolerantly as the reference does."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from forge.foundation.origin import Diagnostic, Origin, Scope, Severity

MAX_SIZE = 1024 * 1024

_FENCE = "---"
_SPECIAL = re.compile(r"[{}\[\]*&#!|>%@`]|: ")
_PAIR = re.compile(r"([A-Za-z_-]+):\s+(.+)")


class FrontMatter(msgspec.Struct, frozen=True):
    """Values of the block, the text below it, and the line of each top-level key in the file."""

    values: dict[str, Any]
    body: str
    diagnostics: list[Diagnostic] = []
    lines: dict[str, int] = {}
    body_line: int = 1


def split(text: str) -> tuple[str | None, str, int]:
    """The block (None when there is none), the text below it and the line where that starts.

    As in the reference the block ends at the first `---`, even inside a value, and the white space after it
    belongs to neither part.
    """
    text = text.removeprefix("\ufeff")
    opening = re.match(r"---\s*\n", text)
    end = text.find(_FENCE, opening.end()) if opening else -1
    if opening is None or end < 0:
        return None, text, 1
    start = text.index("\n") + 1
    after = re.compile(r"\s*").match(text, end + len(_FENCE))
    body_at = after.end() if after else end + len(_FENCE)
    return text[min(start, end) : end], text[body_at:], text.count("\n", 0, body_at) + 1


def parse(text: str, path: str) -> FrontMatter:
    """Reads a file's front matter; what cannot be read is a diagnostic and leaves the values empty."""
    raw, body, body_line = split(text)
    if raw is None:
        return FrontMatter({}, body)
    origin = Origin(Scope.BUILTIN, path)
    if len(raw) > MAX_SIZE:
        note = Diagnostic(Severity.ERROR, "the front matter is too large", origin, "It is ignored.", line=1)
        return FrontMatter({}, body, [note], body_line=body_line)
    values, lines, notes = _read(raw, origin)
    return FrontMatter(values, body, notes, {key: line + 1 for key, line in lines.items()}, body_line)


def repair(raw: str) -> str:
    """Quotes the values that YAML would trip over, such as `Use when: x` or `[a] | [b]`."""
    return "".join(_repaired(line) for line in raw.splitlines(keepends=True))


def _read(raw: str, origin: Origin) -> tuple[dict[str, Any], dict[str, int], list[Diagnostic]]:
    # On use only: most runs meet no front matter, and the parser costs 20 ms to import.
    from forge.foundation.yaml12 import YamlError, load

    first: YamlError | None = None
    for attempt in (lambda: raw, lambda: _without_tabs(raw), lambda: repair(_without_tabs(raw))):
        try:
            values, lines = load(attempt())
        except YamlError as error:
            first = first or error
            continue
        notes = [] if first is None else [_note(Severity.INFO, origin, first, "Read with the value quoted.")]
        if values is None:
            return {}, {}, notes
        if not isinstance(values, dict):
            wrong = YamlError("expected keys with values", 1)
            return {}, {}, [_note(Severity.ERROR, origin, wrong, "The front matter is ignored.")]
        return values, lines, notes
    assert first is not None
    return {}, {}, [_note(Severity.ERROR, origin, first, "The front matter is ignored.")]


def _note(severity: Severity, origin: Origin, error: Any, hint: str) -> Diagnostic:
    message = f"the front matter is not valid YAML: {error.message}"
    return Diagnostic(severity, message, origin, hint, line=error.line + 1, column=1)


def _without_tabs(raw: str) -> str:
    """The reference takes tabs as indentation, which YAML forbids."""
    return re.sub(r"(?m)^[ \t]+", lambda indent: indent[0].replace("\t", "  "), raw)


def _repaired(line: str) -> str:
    content = line.rstrip("\r\n")
    pair = _PAIR.fullmatch(content)
    if not pair or not _needs_quotes(pair[2]):
        return line
    escaped = pair[2].replace("\\", "\\\\").replace('"', '\\"')
    return f'{pair[1]}: "{escaped}"{line[len(content) :]}'


def _needs_quotes(value: str) -> bool:
    if value[0] in "\"'" and value[-1] == value[0]:
        return False
    if value[0] == "[" and value[-1] == "]" and _parses(value):
        return False
    return _SPECIAL.search(value) is not None


def _parses(value: str) -> bool:
    from forge.foundation.yaml12 import YamlError, load  # as in _read

    try:
        load(value)
    except YamlError:
        return False
    return True
