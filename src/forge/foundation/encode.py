"""JSON for the outside. File names that are not UTF-8 reach Python as lone surrogates, which JSON cannot
hold: they are shown as replacement characters instead of failing the whole record."""

from __future__ import annotations

from typing import Any

import msgspec

# What decoding raises for a text from outside: no JSON or of another kind, not Unicode, nested too deeply.
NOT_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)

_encode = msgspec.json.Encoder().encode


def dumps(value: Any) -> bytes:
    """The value as JSON, whatever its texts contain."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(_clean(msgspec.to_builtins(value)))


def printable(text: str) -> str:
    """The text with everything that is not Unicode replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_clean(k): _clean(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean(v) for v in value]
    return value
