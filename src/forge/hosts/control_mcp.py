"""Requests about MCP servers: what there is, and changing them while a session runs."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from forge.agent.mcp.servers import HOSTED, Servers, add_server, drop_server, renew_server
from forge.foundation.errors import UsageError
from forge.hosts.control_seat import Refused, Request, Seat
from forge.hosts.mcp.servers import chosen_server, hosted_server, named_servers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.mcp.server import McpServer

NOT_YET = "this version does not read resources of MCP servers"
_WRONG_SERVERS = "mcp_set_servers: servers must be an object of config objects"


def take_servers(seat: Seat, request: Request) -> None:
    """Connects to the servers inside the host program, which is there from now on."""
    named, manifests = request.get("sdkMcpServers"), request.get("sdkMcpServerManifests")
    given = named_servers(seat.o.mcp_config, seat.c)
    inside = [n for n, entry in given.items() if isinstance(entry, dict) and entry.get("type") == HOSTED]
    manifests = manifests if isinstance(manifests, dict) else {}
    known = {server.name for server in seat.session.keep(Servers).all}
    for name in dict.fromkeys([*inside, *(named if isinstance(named, list) else [])]):
        if isinstance(name, str) and name not in known:
            add_server(seat.session, hosted_server(seat.session, seat.c, name, manifests.get(name)))


def mcp_status(seat: Seat, request: Request) -> dict[str, Any]:
    """The servers of the session and what they offer."""
    servers = seat.session.keep(Servers)
    rows = [_row(server) for server in servers.all]
    return {"mcpServers": [*rows, *servers.unusable]}


def _row(server: McpServer) -> dict[str, Any]:
    row: dict[str, Any] = {"name": server.name, "status": server.status}
    if server.greeting.identity:
        row["serverInfo"] = server.greeting.identity
    if server.source == HOSTED:
        row |= {"transport": HOSTED, "scope": "dynamic", "source": HOSTED}
    else:
        kind = server.launch.kind
        row |= {"config": {"type": kind, **_shown(server.config)}, "transport": kind}
        row |= {"scope": server.source, "source": server.source}
    if server.greeting.offers:
        row["tools"] = [
            {"name": o.name, "annotations": _annotations(o.annotations)} for o in server.greeting.offers
        ]
    return {**row, "error": server.error} if server.error else row


def _shown(config: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = import_module("forge.core.mcp.config").shown(config)
    return found


def _annotations(given: dict[str, Any]) -> dict[str, bool]:
    hints = {"readOnlyHint": "readOnly", "destructiveHint": "destructive", "openWorldHint": "openWorld"}
    return {name: True for hint, name in hints.items() if given.get(hint) is True}


async def mcp_set_servers(seat: Seat, request: Request) -> dict[str, Any]:
    """Other servers in the place of those set before; what is the same stays connected."""
    wanted, s = request.get("servers"), seat.session
    if not isinstance(wanted, dict) or not all(isinstance(entry, dict) for entry in wanted.values()):
        raise Refused(_WRONG_SERVERS)
    mine = s.keep(Servers)
    here = {server.name: server for server in mine.all}
    same = {name for name in mine.chosen if name in here and here[name].config == wanted.get(name)}
    added, removed = [n for n in wanted if n not in same], [n for n in mine.chosen if n not in wanted]
    for name in {*added, *removed} & set(here):
        await drop_server(s, here[name])
    mine.unusable = [row for row in mine.unusable if row["name"] not in {*added, *removed}]
    mine.chosen = list(wanted)
    errors = await _added(seat, {name: wanted[name] for name in added})
    return {"added": added, "removed": removed, "errors": errors}


async def _added(seat: Seat, wanted: dict[str, Any]) -> dict[str, str]:
    """Connects to servers; what is wrong with which. Those of the host answer later: it waits for us now."""
    mine, awaited = seat.session.keep(Servers), []
    errors: dict[str, str] = {}
    for name, entry in wanted.items():
        try:
            server = chosen_server(seat.session, seat.c, name, entry)
        except UsageError as error:
            errors[name] = str(error)
            row = {"name": name, "status": "failed", "source": "dynamic", "config": _shown(entry)}
            mine.unusable.append({**row, "error": str(error)})
            continue
        task = add_server(seat.session, server)
        if server.source != HOSTED:
            awaited.append((server, task))
    await asyncio.gather(*(task for _, task in awaited), return_exceptions=True)
    return errors | {server.name: server.error for server, _ in awaited if server.error}


async def mcp_toggle(seat: Seat, request: Request) -> None:
    """Ends a server for the time being, or starts it again."""
    enabled = request.get("enabled")
    if not isinstance(enabled, bool):
        raise Refused("mcp_toggle: enabled must be a boolean")
    server = _find(seat, request)
    await renew_server(seat.session, server, server.restart if enabled else server.disable)
    if server.error:
        raise Refused(server.error)


async def mcp_reconnect(seat: Seat, request: Request) -> None:
    """Ends a server and starts it again."""
    server = _find(seat, request)
    if server.status == "disabled":
        words = f"MCP server {server.name} is disabled — enable it (mcp_toggle) before reconnecting"
        raise Refused(words)
    await renew_server(seat.session, server, server.restart)
    if server.error:
        raise Refused(server.error)


async def mcp_call(seat: Seat, request: Request) -> dict[str, Any]:
    """Calls a tool for the host itself, without the model."""
    names = import_module("forge.core.mcp.names")
    wanted, given = str(request.get("tool")), request.get("arguments")
    parts = wanted.split("__", 2)
    if len(parts) != 3 or parts[0] != "mcp":
        raise Refused(f"Not a fully-qualified MCP tool name: {wanted}")
    mine = seat.session.keep(Servers)
    server = next((e for e in mine.all if wanted.startswith(names.full_name(e.name, ""))), None)
    if server is None or server.status != "connected":
        raise Refused(f"MCP server not connected: {parts[1]}")
    if server.source == HOSTED:
        raise Refused(
            "mcp_call does not support SDK MCP servers."
            f" SDK servers are caller-provided — invoke {server.name} directly."
        )
    offers = {names.full_name(server.name, o.name): o.name for o in server.greeting.offers}
    return await _called(server, offers.get(wanted, parts[2]), given if isinstance(given, dict) else {})


async def _called(server: McpServer, tool: str, given: dict[str, Any]) -> dict[str, Any]:
    results = import_module("forge.core.mcp.results")
    unavailable: type[Exception] = import_module("forge.core.mcp.port").Unavailable
    try:
        result = await server.call(tool, given)
    except (unavailable, TimeoutError) as error:
        raise Refused(str(error) or f"{tool} did not answer in time") from None
    if results.is_error(result):
        raise Refused(results.plain_text(result))
    return {"content": result.get("content", [])}


def mcp_message(seat: Seat, request: Request) -> None:
    """A server inside the host program speaks unasked: its tools have changed, or it wants an answer."""
    hosted = import_module("forge.core.mcp.hosted")
    name, message = request.get("server_name"), request.get("message")
    server = next((e for e in seat.session.keep(Servers).all if e.name == name), None)
    connection = server.connection if server is not None else None
    if server is None or not isinstance(connection, hosted.Hosted) or not isinstance(message, dict):
        return
    seat.run_beside(_heard(seat, server, connection, message))


async def _heard(seat: Seat, server: McpServer, connection: Any, message: dict[str, Any]) -> None:
    hosted = import_module("forge.core.mcp.hosted")
    unavailable: type[Exception] = import_module("forge.core.mcp.port").Unavailable
    try:
        if message.get("method") != hosted.TOOLS_CHANGED:
            await connection.answer(message)
            return

        async def renew() -> None:
            await connection.renew()
            server.greeting = connection.greeting

        await renew_server(seat.session, server, renew)
    except unavailable:
        pass  # it has gone, or does not tell: what was known of it stays


def _find(seat: Seat, request: Request) -> McpServer:
    name = request.get("serverName")
    found = next((e for e in seat.session.keep(Servers).all if e.name == name), None)
    if found is None:
        raise Refused(f"Server not found: {name}")
    return found


def set_permission_mode_override(seat: Seat, request: Request) -> dict[str, Any]:
    """Has the calls of one server asked about in modes that ask nobody, or no longer."""
    name, mode, servers = seat.text(request, "serverName"), request.get("mode"), seat.session.keep(Servers)
    if mode not in ("default", "auto", None):
        only = "Permission mode override over the control channel is tighten-only"
        raise Refused(f"{only} ('default', 'auto', or null); rejected '{mode}'")
    known = name in [server.name for server in servers.all]
    if mode is None:
        servers.tightened.discard(name)
    else:
        servers.tightened.add(name)
    if known or mode is None:
        return {}
    what = "override stored but will not apply until a server with that exact name connects"
    return {"warning": f"MCP server '{name}' is not yet known; {what}."}


def unsupported(seat: Seat, request: Request) -> None:
    """Refuses what cannot be done."""
    raise Refused(f"{request.get('subtype')}: {NOT_YET}.", "unsupported_mcp")
