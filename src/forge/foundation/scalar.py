"""Scalars of YAML 1.2: what a plain one means, and its text as the reference shows it."""

from __future__ import annotations

import re
from typing import Any

_NULLS = ("", "~", "null", "Null", "NULL")
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# Python refuses to convert longer digit strings.
_MAX_DIGITS = 4000


def resolve(raw: str) -> Any:
    """The value of a plain scalar by the rules of YAML 1.2: `yes` and dates are text, 010 is ten."""
    if raw in _NULLS:
        return None
    if raw in _WORDS:
        return _WORDS[raw]
    if len(raw) < _MAX_DIGITS and _INT.fullmatch(raw):
        return int(raw, {"0o": 8, "0x": 16}.get(raw[:2], 10))
    if _FLOAT.fullmatch(raw):
        return float(raw)
    special = _SPECIAL.fullmatch(raw)
    if special:
        return float("nan" if special[1] is None else f"{special[1]}inf")
    return raw


def as_text(value: str | float) -> str:
    """A string, boolean or number as text: 1.0 is `1`, true is `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    return str(value)


def _number(value: float) -> str:
    if abs(value) == float("inf"):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    mantissa, mark, exponent = repr(value).partition("e")
    # Python writes 1e-07, the reference 1e-7.
    return f"{mantissa}e{int(exponent):+d}" if mark else mantissa.replace("nan", "NaN")
