"""The text of a scalar as the reference shows it."""

from __future__ import annotations


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
