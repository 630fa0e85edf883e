"""An MCP server at an address, made with the official SDK: both kinds of HTTP; prints its port.

Every request must carry the header X-Word: please.
"""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.responses import Response

server = MCPServer("far", instructions="Ask kindly.")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


@server.tool()
def abilities(ctx: Context) -> str:
    """Tells what the client says it can do."""
    told = ctx.client_capabilities
    return "" if told is None else told.model_dump_json(by_alias=True, exclude_none=True)


def main() -> None:
    streamable, events = server.streamable_http_app(), server.sse_app()

    async def both(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"x-word") != b"please":
            await Response(status_code=401)(scope, receive, send)
            return
        old = scope.get("path", "").startswith(("/sse", "/messages"))
        await (events if old else streamable)(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(both, log_level="critical")).run(sockets=[listening])


if __name__ == "__main__":
    main()
