"""The table of the tool that asks language servers."""

from __future__ import annotations

import os

from forge.core.packaged import Row, packaged_tool
from forge.core.tool import Tool

ROW = Row("LSP", "lsp", read_only=True, deferred=True)


def lsp_tool() -> Tool:
    """The tool; it makes sense only where there are servers."""
    return packaged_tool(ROW, "forge.core.lsp", os.path.dirname(__file__))
