"""One record as one line of bounded length: SDKs give up on lines of more than a megabyte."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.foundation.encode import dumps

MOST_BYTES = 900_000
# Longest text and longest list, tried until the line is short enough.
_STEPS = ((100_000, 5_000), (20_000, 1_000), (2_000, 100), (100, 10))


def encode_line(record: dict[str, Any]) -> bytes:
    """The record as JSON; what hosts get as structured data is cut first, then all long texts."""
    data = dumps(record)
    if len(data) <= MOST_BYTES:
        return data
    plain = msgspec.json.decode(data)
    for field in ("tool_use_result", ""):
        for text, items in _STEPS:
            short = {k: _cut(v, text, items) if field in ("", k) else v for k, v in plain.items()}
            data = dumps(short)
            if len(data) <= MOST_BYTES:
                return data
    return data


def _cut(value: Any, text: int, items: int) -> Any:
    if isinstance(value, str) and len(value) > text:
        return f"{value[:text]}… [{len(value) - text} more characters]"
    if isinstance(value, list):
        return [_cut(entry, text, items) for entry in value[:items]]
    if isinstance(value, dict):
        if value.get("type") == "base64" and len(str(value.get("data"))) > text:
            return {**value, "data": ""}
        return {key: _cut(entry, text, items) for key, entry in value.items()}
    return value
