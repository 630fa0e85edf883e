"""Names of MCP tools as models, permission rules and hooks see them."""

from __future__ import annotations

import re

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def normal(name: str) -> str:
    """A name in the characters a model's tool name may have."""
    return _FOREIGN.sub("_", name)


def full_name(server: str, tool: str) -> str:
    """`mcp__server__tool`."""
    return f"mcp__{normal(server)}__{normal(tool)}"


def shown(tool: str) -> str:
    """A tool's name for people: `read_file` is Read File."""
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-\s]+", tool) if word)
