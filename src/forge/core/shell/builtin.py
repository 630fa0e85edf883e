"""The table of the shell tools."""

from __future__ import annotations

import os

from forge.core.packaged import Row, packaged_tool
from forge.core.tool import Tool

ROWS = (Row("Bash", "bash"), Row("Monitor", "monitor", deferred=True))
# The tools of the guarded shell, for sessions that are guarded in full.
GUARDED = (Row("forgecmd", "forgecmd", alone=True), Row("forgecmd_session", "forgecmd_session", alone=True))


def shell_tools(*, guarded: bool = False) -> list[Tool]:
    """The tools of this package."""
    directory = os.path.dirname(__file__)
    rows = ROWS + GUARDED if guarded else ROWS
    return [packaged_tool(row, "forge.core.shell", directory) for row in rows]
