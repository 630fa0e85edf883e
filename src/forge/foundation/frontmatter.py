"""YAML front matter of Markdown files: read as tolerantly as the reference does, written line by line."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from forge.foundation.errors import ForgeError
from forge.foundation.jsonpatch import quote, same
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity
from forge.foundation.plainyaml import read_plain
from forge.foundation.scalar import resolve

MAX_SIZE = 1024 * 1024

_FENCE = "---"
_OPENING = re.compile(r"---\s*\n")
_SPACE = re.compile(r"\s*")
_SPECIAL = re.compile(r"[{}\[\]*&#!|>%@`]|: ")
_PAIR = re.compile(r"([A-Za-z_-]+):\s+(.+)")


class FrontMatter(msgspec.Struct, frozen=True):
    """Values of the block, the text below it, and the line of each top-level key in the file."""

    values: dict[str, Any]
    body: str
    diagnostics: list[Diagnostic] = []
    lines: dict[str, int] = {}


def split(text: str) -> tuple[str | None, str]:
    """The block (None when there is none) and the text below it.

    As in the reference the block ends at the first `---`, even inside a value, and the white space after it
    belongs to neither part.
    """
    text = text.removeprefix("\ufeff")
    opening = _OPENING.match(text)
    end = text.find(_FENCE, opening.end()) if opening else -1
    if opening is None or end < 0:
        return None, text
    start = text.index("\n") + 1
    after = _SPACE.match(text, end + len(_FENCE))
    body_at = after.end() if after else end + len(_FENCE)
    return text[min(start, end) : end], text[body_at:]


def parse(text: str, path: str, scope: Scope = Scope.PROJECT) -> FrontMatter:
    """Reads a file's front matter; what cannot be read is a diagnostic and leaves the values empty."""
    raw, body = split(text)
    if raw is None:
        return FrontMatter({}, body)
    origin = Origin(scope, path)
    if len(raw) > MAX_SIZE:
        note = Diagnostic(Severity.ERROR, "the front matter is too large", origin, "It is ignored.", line=1)
        return FrontMatter({}, body, [note])
    values, lines, notes = _read(raw, origin)
    return FrontMatter(values, body, notes, {key: line + 1 for key, line in lines.items()})


def write_values(text: str, changes: dict[str, Any]) -> str:
    """The text with some keys set (None removes one); only the lines of those keys change.

    ForgeError when the result would not read back as asked, for example because the block is broken.
    """
    wanted = {**parse(text, "").values, **changes}
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    raw, _ = split(text)
    plain = text[len(mark) :]
    newline = "\r\n" if "\r\n" in plain else "\n"
    if raw is None:
        head, lines, tail = f"{_FENCE}{newline}", [], f"{_FENCE}{newline}{plain}"
    else:
        start = plain.index("\n") + 1
        head, tail = plain[:start], plain[start + len(raw) :]
        lines = _lines(raw)
    for key, value in changes.items():
        _set_lines(lines, key, value, newline)
    new = f"{mark}{head}{''.join(lines)}{tail}"
    if not same(parse(new, "").values, {key: value for key, value in wanted.items() if value is not None}):
        raise ForgeError(
            "The front matter cannot be changed without changing its other values.", "Edit it by hand."
        )
    return new


def repair(raw: str) -> str:
    """Quotes the values that YAML would trip over, such as `Use when: x` or `[a] | [b]`."""
    return "".join(_repaired(line) for line in _lines(raw))


def _lines(raw: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", raw)


def _read(raw: str, origin: Origin) -> tuple[dict[str, Any], dict[str, int], list[Diagnostic]]:
    plain = read_plain(raw)
    if plain is not None:
        return *plain, []
    # On use only: the parser costs 20 ms to import.
    from forge.foundation.yaml12 import YamlError, load

    problem: YamlError | None = None
    for prepare, hint in _ATTEMPTS:
        try:
            values, lines = load(prepare(raw))
        except YamlError as error:
            problem = problem or error
            continue
        notes = [_note(Severity.INFO, origin, problem, hint)] if problem else []
        if values is None or isinstance(values, dict):
            return values or {}, lines, notes
        problem = YamlError("expected keys with values", 1)
        break
    return {}, {}, [_note(Severity.ERROR, origin, problem, "The front matter is ignored.")]


def _note(severity: Severity, origin: Origin, error: Any, hint: str) -> Diagnostic:
    message = f"the front matter is not valid YAML: {error.message}"
    return Diagnostic(severity, message, origin, hint, line=error.line + 1, column=1)


def _as_it_is(raw: str) -> str:
    return raw


def _without_tabs(raw: str) -> str:
    """The reference takes tabs as indentation, which YAML forbids."""
    return re.sub(r"(?m)^[ \t]+", lambda indent: indent[0].replace("\t", "  "), raw)


_ATTEMPTS = (
    (_as_it_is, ""),
    (_without_tabs, "Tabs were read as indentation."),
    (lambda raw: repair(_without_tabs(raw)), "It was read with such values put in quotes."),
)


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
        # Inside something larger, since anything may follow the end of a document.
        load(f"- {value}")
    except YamlError:
        return False
    return True


def _set_lines(lines: list[str], key: str, value: Any, newline: str) -> None:
    """Puts the lines of one key in place of its old ones, or at the end."""
    start = next((i for i in reversed(range(len(lines))) if _key_of(lines[i]) == key), len(lines))
    end = start + 1
    while end < len(lines) and _continues(lines[end]):
        end += 1
    # Blank lines and comments below a value belong to what follows.
    while end > start + 1 and lines[end - 1].lstrip()[:1] in ("", "#"):
        end -= 1
    lines[start:end] = [] if value is None else [f"{_flow(key)}: {_flow(value)}{newline}"]


def _key_of(line: str) -> str:
    found = re.match(r"""("[^"]*"|'[^']*'|[^\s#"'][^:#]*?)\s*:(\s|$)""", line)
    return found[1].strip("\"'") if found else ""


def _continues(line: str) -> bool:
    return line[:1] in (" ", "\t", "\r", "\n", "#") or re.match(r"-(\s|$)", line) is not None


def _flow(value: Any) -> str:
    """A value on one line: plain where that reads back the same, else in JSON style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if not isinstance(value, str):
        return msgspec.json.encode(value).decode()
    if re.fullmatch(r"\w(?:[\w ./()*-]*\w)?", value, re.ASCII) and _FENCE not in value and _is_text(value):
        return value
    quoted = re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda c: f"\\u{ord(c[0]):04x}", quote(value)
    )
    # A fence inside a value would end the block.
    return quoted.replace("--", "\\u002d-") if _FENCE in value else quoted


def _is_text(value: str) -> bool:
    return isinstance(resolve(value), str)
