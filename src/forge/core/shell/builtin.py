"""The table of the shell tools."""

from __future__ import annotations

import os

from forge.core.packaged import Row, packaged_tool
from forge.core.tool import Tool

ROWS = (Row("Bash", "bash"), Row("Monitor", "monitor", deferred=True))


def shell_tools() -> list[Tool]:
    """The tools of this package."""
    directory = os.path.dirname(__file__)
    return [packaged_tool(row, "forge.core.shell", directory) for row in ROWS]
