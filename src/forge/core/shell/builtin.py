"""The table of the shell tools."""

from __future__ import annotations

import os

from forge.core.packaged import Row, packaged_tool
from forge.core.tool import Tool


def shell_tools() -> list[Tool]:
    """The tools of this package."""
    return [_tool(Row("Bash", "bash"))]


def monitor_tool() -> Tool:
    """The Monitor tool; to be offered only where the permission rules for Bash cover its command too."""
    return _tool(Row("Monitor", "monitor", deferred=True))


def _tool(row: Row) -> Tool:
    return packaged_tool(row, "forge.core.shell", os.path.dirname(__file__))
