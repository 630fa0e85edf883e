"""The table of the shell tools. Code is imported on the first call of a tool, not before."""

from __future__ import annotations

import importlib
import os
from typing import Any

import msgspec

from forge.core.tool import Action, Tool


def shell_tools() -> list[Tool]:
    """The tools of this package."""
    return [_tool("Bash", "bash")]


def monitor_tool() -> Tool:
    """The Monitor tool; to be offered only where the permission rules for Bash cover its command too."""
    return _tool("Monitor", "monitor", deferred=True)


def _tool(name: str, module: str, *, deferred: bool = False) -> Tool:
    place = os.path.join(os.path.dirname(__file__), module)

    def load() -> Action[Any]:
        action: Action[Any] = importlib.import_module(f"forge.core.shell.{module}").ACTION
        return action

    with open(f"{place}.json", "rb") as schema_file, open(f"{place}.md", encoding="utf-8") as prose_file:
        schema = msgspec.json.decode(schema_file.read(), type=dict[str, Any])
        prose = prose_file.read().strip()
    return Tool(name, prose, schema, load, deferred=deferred)
