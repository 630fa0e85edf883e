"""`.forge.toml` in the user directories: the weakest user layer, written only for keys that live there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from forge.foundation.atomic import read_text, update_text
from forge.foundation.errors import ConfigError
from forge.foundation.jsonpatch import Change, quote, same
from forge.foundation.origin import Diagnostic, Scope, Severity
from forge.foundation.paths import Places
from forge.foundation.settings_files import detail_of, judge
from forge.foundation.settings_merge import Layer

FILE_NAME = ".forge.toml"
_BY_HAND = "Edit the file by hand, or move the key to settings.json."


class _Assignment(msgspec.Struct, frozen=True):
    """A `key = value` line: what it sets and where in the text."""

    path: tuple[str, ...]
    line: int
    line_start: int
    line_end: int
    value_start: int
    value_end: int


def read_toml(p: Places, diagnostics: list[Diagnostic]) -> list[Layer]:
    """The layers of all `.forge.toml` files, the weakest first."""
    layers = []
    for path in _files(p):
        place_of = Layer(Scope.USER, path, {}, "toml", os.path.dirname(path))
        try:
            text = read_text(path)
            data = _parse(text, path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except ConfigError as error:
            hint = "The whole file is ignored until this is fixed."
            notes = [
                Diagnostic(Severity.ERROR, detail_of(error), place_of.origin, hint, error.line, error.column)
            ]
            layer = None
        else:
            layer, found = judge(place_of, data)
            notes = [_placed(note, text) for note in found]
        layers += [layer] if layer is not None else []
        diagnostics += notes
    return layers


def toml_file_with(p: Places, key: tuple[str, ...]) -> str:
    """The strongest `.forge.toml` that sets a key, or an empty string."""
    for path in reversed(_files(p)):
        try:
            if any(found.path in _spellings(key) for found in _assignments(read_text(path))):
                return path
        except (FileNotFoundError, NotADirectoryError):
            continue
    return ""


def patch_toml(path: str, change: Change) -> bool:
    """Applies one change to the line that sets the key; everything else keeps its bytes."""

    def patched(text: str) -> str:
        lines = [a for a in _assignments(text) if a.path in _spellings(change.path)]
        if not lines:
            raise ConfigError("the key has just been removed", path=path, hint="Try again.")
        found = lines[-1]
        if change.action == "delete":
            return text[: found.line_start] + text[found.line_end :]
        before = _read_value(text[found.value_start : found.value_end], path, found.line)
        after = _changed(before, change)
        if same(before, after):
            return text
        return text[: found.value_start] + _render(after, path, found.line) + text[found.value_end :]

    return update_text(path, patched)


def _files(p: Places) -> list[str]:
    return [os.path.join(directory, FILE_NAME) for directory in p.user_dirs if directory != p.claude_dir]


def _parse(text: str, path: str) -> dict[str, Any]:
    # On use only: nearly nobody has this file, and the parser costs several milliseconds to import.
    import tomllib

    try:
        data = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        raise ConfigError(f"Invalid TOML: {error}", path=path, line=line, column=column) from error
    return {key: _plain(value) for key, value in data.items()}


def _plain(value: Any) -> Any:
    """Dates, which JSON does not have, become text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float) else str(value)


def _placed(note: Diagnostic, text: str) -> Diagnostic:
    wanted = tuple(note.key.split("."))
    found = next((a for a in _assignments(text) if a.path == wanted[: len(a.path)]), None)
    if found is None:
        return note
    return msgspec.structs.replace(note, line=found.line, column=found.value_start - found.line_start + 1)


def _spellings(key: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The key itself, and for the switch of a local plugin its older place."""
    if len(key) == 2 and key[0] == "enabledPlugins" and key[1].endswith("@local"):
        return [key, ("plugins", key[1].removesuffix("@local"), "enabled")]
    return [key]


def _assignments(text: str) -> Iterator[_Assignment]:
    table: tuple[str, ...] = ()
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        end = start + len(line)
        header = re.match(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$", line)
        pair = re.match(
            r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*""", line
        )
        if header:
            table = _keys(header[1])
        elif pair:
            value = re.match(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'#\r\n])*""", line[pair.end() :])
            text_of_value = (value[0] if value else "").rstrip()
            at = start + pair.end()
            yield _Assignment((*table, *_keys(pair[1])), number, start, end, at, at + len(text_of_value))
        start = end


def _keys(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r""""([^"]*)"|'([^']*)'|([\w-]+)""", dotted)
    return tuple("".join(part) for part in parts)


def _changed(before: Any, change: Change) -> Any:
    if change.action == "put":
        return change.value
    items = before if isinstance(before, list) else []
    if change.action == "append":
        return items + [value for value in change.value if value not in items]
    return [value for value in items if value not in change.value]


def _read_value(raw: str, path: str, line: int) -> Any:
    try:
        return _parse(f"value = {raw}", path)["value"]
    except ConfigError as error:
        raise ConfigError(
            "the value spans several lines", path=path, line=line, column=1, hint=_BY_HAND
        ) from error


def _render(value: Any, path: str, line: int) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_render(item, path, line) for item in value) + "]"
    if isinstance(value, str):
        return quote(value).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise ConfigError("only single values can be written here", path=path, line=line, column=1, hint=_BY_HAND)
