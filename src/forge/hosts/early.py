"""Reads a host's first request before anything is loaded (--await-initialize), as it may name plugins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.hosts.options import RunOptions
from forge.hosts.stdin import lines


async def hear_first(o: RunOptions) -> tuple[RunOptions, AsyncIterator[bytes]]:
    """The options with the plugins of the first request, and all lines of the host, those read included."""
    source = lines()
    heard: list[bytes] = []
    request: dict[str, Any] | None = None
    async for line in source:
        heard.append(line)
        if (request := _initialize(line)) is not None:
            break
    named = named_plugins(request or {})
    given = [*o.plugin_dir, *(path for path, servers in named.items() if servers)]
    apart = [*o.plugin_dir_no_mcp, *(path for path, servers in named.items() if not servers)]
    return msgspec.structs.replace(o, plugin_dir=given, plugin_dir_no_mcp=apart), _all(heard, source)


def named_plugins(request: dict[str, Any]) -> dict[str, bool]:
    """The directories of the plugins a request lists, and whether their MCP servers are wanted."""
    rows = request.get("plugins")
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {str(row["path"]): row.get("skipMcpDiscovery") is not True for row in found if row.get("path")}


def _initialize(line: bytes) -> dict[str, Any] | None:
    try:
        message = msgspec.json.decode(line)
    except NOT_JSON:
        return {}  # whoever reads the line again says what is wrong with it
    request = message.get("request") if isinstance(message, dict) else None
    wanted = isinstance(request, dict) and request.get("subtype") == "initialize"
    return request if isinstance(request, dict) and wanted else None


async def _all(heard: list[bytes], source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for line in heard:
        yield line
    async for line in source:
        yield line
