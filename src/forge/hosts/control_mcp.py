"""Requests about MCP servers: what there is; changing them while a session runs is not possible yet."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.mcp.servers import Servers
from forge.hosts.control_seat import Refused, Request, Seat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.mcp.server import McpServer

NOT_YET = "this version cannot change MCP servers while a session runs"


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
    """The servers of the session and what they offer."""
    servers = seat.session.keep(Servers)
    rows = [_row(server) for server in servers.all]
    return {"mcpServers": [*rows, *servers.unusable]}


def _row(server: McpServer) -> dict[str, Any]:
    row: dict[str, Any] = {"name": server.name, "status": server.status}
    if server.greeting.identity:
        row["serverInfo"] = server.greeting.identity
    row |= {"config": {"type": "stdio", **server.config}, "transport": "stdio"}
    row |= {"scope": server.source, "source": server.source}
    if server.greeting.offers:
        row["tools"] = [
            {"name": o.name, "annotations": _annotations(o.annotations)} for o in server.greeting.offers
        ]
    return {**row, "error": server.error} if server.error else row


def _annotations(given: dict[str, Any]) -> dict[str, bool]:
    hints = {"readOnlyHint": "readOnly", "destructiveHint": "destructive", "openWorldHint": "openWorld"}
    return {name: True for hint, name in hints.items() if given.get(hint) is True}


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
