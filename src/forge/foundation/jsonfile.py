"""Reads and changes JSON files. A change touches only the keys it names; see jsonpatch for how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from forge.foundation.atomic import read_text, update_text
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ConfigError
from forge.foundation.jsonpatch import Change, difference, patch
from forge.foundation.jsontext import JsonError, line_column, parse, value_of


def read_json(path: str) -> tuple[Any, str]:
    """The value and the text of a JSON file; an empty file counts as an empty object.

    FileNotFoundError or NotADirectoryError when there is no file, ConfigError with line and column when it
    cannot be used.
    """
    try:
        text = read_text(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from error
    return parse_json(text, path), text


def parse_json(text: str, path: str) -> Any:
    """The value of a JSON text; of duplicate keys the last one counts."""
    body = text.removeprefix("\ufeff")
    if not body.strip(" \t\r\n"):
        return {}
    try:
        return msgspec.json.decode(body)
    except NOT_JSON:
        pass  # the slow way knows positions, and takes the odd things that JSON allows
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        return value_of(clean, parse(clean))
    except JsonError as error:
        raise _at(error, clean, path) from error


def patch_json(path: str, changes: Sequence[Change], *, private: bool = True) -> bool:
    """Applies changes to a file, which is made when missing; False when it already says all that."""
    return update_text(path, lambda text: _patched(text, changes, path), private=private)


def update_json(
    path: str, change: Callable[[dict[str, Any]], dict[str, Any]], *, private: bool = True
) -> bool:
    """Replaces the object in a file by `change(object)`, writing only what differs."""

    def updated(text: str) -> str:
        old = parse_json(text, path)
        if not isinstance(old, dict):
            raise ConfigError("expected an object", path=path, line=1, column=1)
        return _patched(text, difference(old, change(_copy(old))), path)

    return update_text(path, updated, private=private)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _patched(text: str, changes: Sequence[Change], path: str) -> str:
    try:
        return patch(text, changes) if changes else text
    except JsonError as error:
        raise _at(error, text, path) from error


def _at(error: JsonError, text: str, path: str) -> ConfigError:
    line, column = line_column(text, error.position)
    return ConfigError(error.message, path=path, line=line, column=column)
