"""Tools that are files of a package: code in NAME.py, schema in NAME.json, prose in NAME.md.

The code is imported on the first call of a tool, not before.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import msgspec

from forge.core.tool import Action, Tool


class Row(msgspec.Struct, frozen=True):
    """One tool of a package; `module` is the NAME of its files."""

    name: str
    module: str
    read_only: bool = False
    alone: bool = False
    aliases: tuple[str, ...] = ()
    needs_host: bool = False
    deferred: bool = False


def packaged_tool(row: Row, package: str, directory: str) -> Tool:
    """The tool of a row; `directory` is where the files of `package` are."""
    place = os.path.join(directory, row.module)

    def load() -> Action[Any]:
        action: Action[Any] = importlib.import_module(f"{package}.{row.module}").ACTION
        return action

    with open(f"{place}.json", "rb") as schema_file, open(f"{place}.md", encoding="utf-8") as prose_file:
        schema = msgspec.json.decode(schema_file.read(), type=dict[str, Any])
        prose = prose_file.read().strip()
    return Tool(
        row.name,
        prose,
        schema,
        load,
        read_only=row.read_only,
        alone=row.alone,
        aliases=row.aliases,
        needs_host=row.needs_host,
        deferred=row.deferred,
    )
