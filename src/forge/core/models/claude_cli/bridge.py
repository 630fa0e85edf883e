"""Forge's tools as an MCP server inside the control channel: it lists them and never runs one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.core.model import ToolSpec
from forge.core.models.claude_cli.control import SERVER
from forge.core.models.names import wire_name
from forge.version import VERSION

PREFIX = f"mcp__{SERVER}__"
_NOT_RUN = "This tool is run by the host, not here."
_UNKNOWN_METHOD = -32601


def wire_tool(name: str) -> str:
    """The name under which the model knows one of Forge's tools."""
    return wire_name(PREFIX + name)


def tool_names(tools: Sequence[ToolSpec]) -> dict[str, str]:
    """The names the model says, with Forge's own."""
    return {wire_tool(tool.name): tool.name for tool in tools}


def mcp_answer(message: dict[str, Any], tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """The reply to one JSON-RPC message."""
    answer = {"jsonrpc": "2.0", "id": message.get("id", 0)}
    method = message.get("method")
    if method == "initialize":
        wanted = (message.get("params") or {}).get("protocolVersion")
        me = {"name": SERVER, "version": VERSION}
        return answer | {
            "result": {"protocolVersion": wanted, "capabilities": {"tools": {}}, "serverInfo": me}
        }
    if method == "tools/list":
        return answer | {"result": {"tools": [_listed(tool) for tool in tools]}}
    if method == "tools/call":
        # Reached only if a CLI ignores what its hook was told; running it here would avoid permissions.
        return answer | {"result": {"content": [{"type": "text", "text": _NOT_RUN}], "isError": True}}
    if "id" not in message or method == "ping":
        return answer | {"result": {}}
    return answer | {"error": {"code": _UNKNOWN_METHOD, "message": f"Method not found: {method}"}}


def _listed(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": wire_tool(tool.name).removeprefix(PREFIX),
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "_meta": {"anthropic/alwaysLoad": True},
    }
