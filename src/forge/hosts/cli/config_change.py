"""Checks and writes one settings key: the key must be known, the value must fit it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.foundation.paths import Places, settings_file
from forge.foundation.settings import Layer, remove_setting, write_setting
from forge.foundation.settings_files import judge
from forge.foundation.settings_schema import SCHEMA, Type
from forge.foundation.suggest import closest
from forge.foundation.toml_settings import toml_file_with

# Forge's own keys, which are checked where they are used.
OWN_KEYS = ("providers", "plugins", "airGap", "webSearch", "wasm")

_PART = r'(?:"[^"]+"|[^."]+)'
_KEY = re.compile(rf"{_PART}(?:\.{_PART})*")
_ANY = Type()
_RULES = '\'["Read", "Bash(make *)"]\''
_EXAMPLES = {
    "array": '\'["one", "two"]\'',
    "object": '\'{"name": "value"}\'',
    "record": '\'{"name": "value"}\'',
    "boolean": "true",
    "number": "10",
    "int": "10",
    "string": '"text"',
}


def split_key(key: str) -> tuple[str, ...]:
    """The parts of a dotted key; a part in double quotes may have dots itself."""
    if not _KEY.fullmatch(key):
        raise UsageError(f"{key!r} is not a settings key.", "Write it like permissions.defaultMode.")
    return tuple(part.strip('"') for part in re.findall(_PART, key))


def join_key(path: tuple[str, ...]) -> str:
    """The dotted key of some parts."""
    return ".".join(f'"{part}"' if "." in part else part for part in path)


def known_key(path: tuple[str, ...]) -> None:
    """Raises UsageError for a key no part of Forge reads, with the one that was probably meant."""
    names = [*SCHEMA, *OWN_KEYS]
    for at, part in enumerate(path):
        if part not in names:
            near = closest(part, names)
            guess = f" Did you mean {join_key((*path[:at], near))}?" if near else ""
            raise UsageError(
                f"{join_key(path)} is not a setting Forge knows.{guess}",
                "Write it all the same with --force; other programs may use it.",
            )
        wanted = _type_at(path[: at + 1])
        if not wanted.keys or wanted.items is not None:
            return
        names = list(wanted.keys)


def set_key(
    places: Places, scope: Scope, path: tuple[str, ...], text: str, layers: Sequence[Layer] = ()
) -> tuple[str, bool]:
    """Writes a value; the file and whether it changed. Raises UsageError for a value that does not fit.

    `layers` are the settings as they are: parts of an object that are written already need not be repeated.
    """
    value = _read_value(path, text)
    file = _file(places, scope, path)
    before = next((layer.data for layer in layers if layer.path == file), {})
    _judge(scope, path, _with(before, path, value))
    return file, write_setting(places, scope, path, value)


def unset_key(places: Places, scope: Scope, path: tuple[str, ...]) -> tuple[str, bool]:
    """Removes a key; the file and whether it changed."""
    file = _file(places, scope, path)
    return file, os.path.exists(file) and remove_setting(places, scope, path)


def _file(places: Places, scope: Scope, path: tuple[str, ...]) -> str:
    toml = toml_file_with(places, path) if scope is Scope.USER else ""
    return toml or settings_file(places, scope)


def _read_value(path: tuple[str, ...], text: str) -> Any:
    """JSON where it is JSON, unless the key wants text."""
    try:
        value = msgspec.json.decode(text)
    except NOT_JSON:
        return text
    textual = path[0] == "env" and len(path) == 2
    if (textual or _type_at(path).kind in ("string", "enum")) and not isinstance(value, str | dict | list):
        return text
    return value


def _type_at(path: tuple[str, ...]) -> Type:
    wanted = SCHEMA.get(path[0], _ANY)
    for part in path[1:]:
        wanted = wanted.keys.get(part) or wanted.items or _ANY
    return wanted


def _with(data: Any, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    first, *rest = path
    members = data if isinstance(data, dict) else {}
    return {**members, first: _with(members.get(first), tuple(rest), value) if rest else value}


def _judge(scope: Scope, path: tuple[str, ...], data: dict[str, Any]) -> None:
    """The same judgement the value would meet when the file is read."""
    layer, notes = judge(Layer(scope, join_key(path), {}), data)
    if layer is not None and not notes:
        return
    key, words = (notes[0].key, notes[0].message) if notes else ("", "the value cannot be used")
    kind = _type_at(path).kind
    example = _RULES if (path[0], kind) == ("permissions", "array") else _EXAMPLES.get(kind, "")
    hint = f"For example: forge config set {join_key(path)} {example}" if example else ""
    raise UsageError(f"{key or join_key(path)}: {words}", hint)
