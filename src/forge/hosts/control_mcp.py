"""Requests about MCP servers, which this version does not run yet: every answer says so."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.hosts.control_seat import Refused, Request, Seat

NOT_YET = "MCP servers are not supported by this version yet"


def configured(texts: list[str]) -> dict[str, dict[str, Any]]:
    """The servers of --mcp-config values that are JSON themselves."""
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            try:
                value = msgspec.json.decode(text)
            except msgspec.DecodeError:
                continue
            servers = value.get("mcpServers") if isinstance(value, dict) else None
            found |= {k: v for k, v in (servers or {}).items() if isinstance(v, dict)}
    return found


def mcp_status(seat: Seat, request: Request) -> dict[str, Any]:
    """The servers that were asked for, all of them failed."""
    names = configured(seat.o.mcp_config)
    return {"mcpServers": [{"name": name, "status": "failed", "error": NOT_YET} for name in names]}


def mcp_set_servers(seat: Seat, request: Request) -> dict[str, Any]:
    """No server can be added."""
    servers = request.get("servers")
    names = list(servers) if isinstance(servers, dict) else []
    return {"added": [], "removed": [], "errors": {str(name): NOT_YET for name in names}}


def not_found(seat: Seat, request: Request) -> None:
    """There are no servers that could be named."""
    raise Refused(f"Server not found: {request.get('serverName')}")


def unsupported(seat: Seat, request: Request) -> None:
    """Refuses what needs a server."""
    raise Refused(f"{request.get('subtype')}: {NOT_YET}.", "unsupported_mcp")
