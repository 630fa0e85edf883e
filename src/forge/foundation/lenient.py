"""Reads JSON files that may be missing, half written, or somebody else's."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from forge.foundation.encode import NOT_JSON

T = TypeVar("T")


def read_as(path: str, kind: type[T]) -> T | None:
    """The value of a file; None if there is no file, or nothing of that kind in it."""
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=kind)
    except (OSError, *NOT_JSON):
        return None
