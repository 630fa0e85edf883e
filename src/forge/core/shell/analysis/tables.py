"""The data files of the risk model, read once."""

from __future__ import annotations

import functools
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import Incomplete

_PLACE = os.path.join(os.path.dirname(__file__), "tables")


@functools.cache
def table(name: str) -> dict[str, Incomplete]:
    """A table by the name of its file."""
    with open(os.path.join(_PLACE, f"{name}.json"), encoding="utf-8") as file:
        found: dict[str, Incomplete] = json.load(file)
    return found


@functools.cache
def names(table_name: str, key: str) -> frozenset[str]:
    """A list of a table as a set; a text is a list of words."""
    value = table(table_name)[key]
    return frozenset(value.split() if isinstance(value, str) else value)


@functools.cache
def commands() -> dict[str, Incomplete]:
    """The table of commands by program name."""
    return {name: spec for programs, spec in table("commands")["rows"] for name in programs.split()}
