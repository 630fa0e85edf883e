"""The MCP servers of a conversation and of its sub-agents: started, listed, waited for, ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from forge.agent.session import Session

if TYPE_CHECKING:
    from forge.core.mcp.server import McpServer
    from forge.core.tool import Tool

# Nobody waits longer for a server of a file before the first prompt; its tools come when it is ready.
PATIENCE = 2.0
DYNAMIC, HOSTED = "dynamic", "sdk"

AskHost = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Servers:
    """`unusable` are rows of servers that cannot be started; `ask_host` reaches the host program.

    `tightened` are servers whose calls are asked about in every mode.
    `chosen` are the names the host set while the session ran; `remove` takes the tools of a server away.
    `objections` are calls a server found wrong; `explained` are tools whose schema the model got with one.
    """

    def __init__(self) -> None:
        self.all: list[McpServer] = []
        self.unusable: list[dict[str, Any]] = []
        self.ask_host: AskHost | None = None
        self.connecting: dict[asyncio.Task[None], McpServer] = {}
        self.news = False
        self.chosen: list[str] = []
        self.tightened: set[str] = set()
        self.objections: set[str] = set()
        self.explained: set[str] = set()
        self.remove: dict[str, list[Callable[[], None]]] = {}


def start_servers(s: Session, servers: list[McpServer], unusable: list[dict[str, Any]]) -> None:
    """Connects to servers beside the conversation; their tools are there as soon as they are."""
    s.keep(Servers).unusable = unusable
    for server in servers:
        add_server(s, server)


def add_server(s: Session, server: McpServer) -> asyncio.Task[None]:
    """Connects to one more server; the task ends when its tools are there or it has failed."""
    mine, tools = s.keep(Servers), import_module("forge.agent.mcp.tools")
    if not mine.all:
        tools.lend_to_hooks(s)

    async def connect() -> None:
        await server.connect()
        tools.add_tools(s, server)

    mine.all.append(server)
    task = asyncio.ensure_future(connect())
    mine.connecting[task] = server
    task.add_done_callback(lambda done: mine.connecting.pop(done, None))
    return task


async def drop_server(s: Session, server: McpServer) -> None:
    """Ends a server and takes its tools away."""
    mine = s.keep(Servers)
    mine.all.remove(server)
    for task in [task for task, each in mine.connecting.items() if each is server]:
        task.cancel()
    import_module("forge.agent.mcp.tools").drop_tools(s, server)
    await server.close()


async def renew_server(s: Session, server: McpServer, change: Callable[[], Awaitable[None]]) -> None:
    """Changes a server; what it offers afterwards is what the model can call. A change that fails is none."""
    await change()
    tools = import_module("forge.agent.mcp.tools")
    tools.drop_tools(s, server)
    tools.add_tools(s, server)


async def await_servers(s: Session) -> None:
    """Before the first prompt: waits for servers of the command line and the host, a little for others."""
    mine = s.keep(Servers)
    if not mine.connecting:
        return
    named = [task for task, server in mine.connecting.items() if server.source in (DYNAMIC, HOSTED)]
    await asyncio.wait(list(mine.connecting), timeout=PATIENCE)
    if named:
        await asyncio.wait(named)


async def late_tool(s: Session, name: str) -> Tool | None:
    """A tool of a server that is still starting, as soon as it is there."""
    mine = s.keep(Servers)
    if not mine.connecting or not name.startswith("mcp__"):
        return None
    full_name = import_module("forge.core.mcp.names").full_name
    awaited = [t for t, server in mine.connecting.items() if name.startswith(full_name(server.name, ""))]
    if awaited:
        await asyncio.wait(awaited)
    return s.find_tool(name)


def tell_servers(s: Session) -> None:
    """Before a request: the model hears of tools that have come since the last one."""
    mine = s.keep(Servers)
    if mine.news:
        mine.news = False
        import_module("forge.agent.mcp.tools").tell_tools(s)


async def end_servers(s: Session) -> None:
    """Ends all servers, also those that have not answered yet."""
    mine = s.keep(Servers)
    tasks = list(mine.connecting)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*(server.close() for server in mine.all))


def status_rows(s: Session) -> list[dict[str, Any]]:
    """The servers as hosts list them when a turn starts."""
    mine = s.keep(Servers)
    rows = [{"name": e.name, "status": e.status, "source": e.source} for e in mine.all]
    return [*rows, *({k: row[k] for k in ("name", "status", "source")} for row in mine.unusable)]


def call_meta(s: Session, call_id: str, name: str) -> list[dict[str, str]]:
    """How a call of a server's tool is called for people; empty for other calls."""
    tool = s.find_tool(name)
    remote = tool.remote if tool is not None else None
    if remote is None:
        return []
    title = remote.title or import_module("forge.core.mcp.names").shown(remote.tool)
    served = (each.greeting.identity for each in s.keep(Servers).all if each.name == remote.server)
    own = next(served, {})
    server = str(own.get("title") or own.get("name") or remote.server)
    row = {"id": call_id, "display_name": title, "server_display_name": server}
    return [{**row, "tool_name": remote.tool}]
