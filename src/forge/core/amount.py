"""Sizes and durations as people read them."""

from __future__ import annotations


def human_size(count: int) -> str:
    """`329 bytes`, `1.4KB`, `5.7MB`: one decimal at most."""
    if count < 1024:
        return f"{count} bytes"
    for unit, factor in (("KB", 1 << 10), ("MB", 1 << 20)):
        if count < factor << 10:
            return f"{_short(count / factor)}{unit}"
    return f"{_short(count / (1 << 30))}GB"


def human_duration(milliseconds: float) -> str:
    """`1s`, `2m 5s`, `1h 0m 3s`: whole seconds, half a second counts as one."""
    seconds = int(milliseconds / 1000 + 0.5)
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        return f"{hours}h {minutes}m {seconds}s"
    return f"{minutes}m {seconds}s" if minutes else f"{seconds}s"


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
