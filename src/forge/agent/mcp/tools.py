"""Tools of MCP servers in a session: what the model can call, and what hooks can."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.context import CallContext
from forge.agent.hooks.lending import engine_of
from forge.agent.hooks.port import Told
from forge.agent.hooks.sites import tell_now
from forge.agent.mcp.large import shortened
from forge.agent.mcp.pictures import with_files
from forge.agent.mcp.servers import Servers
from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.agent.toolset import DEFERRED, held_back, put_first, tell_held_back
from forge.core.mcp.names import full_name
from forge.core.mcp.port import Offer, Unavailable
from forge.core.mcp.results import content, is_error, plain_text
from forge.core.mcp.server import FAILED, McpServer
from forge.core.message import Aside, Text
from forge.core.registry import Component
from forge.core.reminder import plain
from forge.core.tool import Action, Remote, Tool, ToolContext, ToolError, ToolOutput
from forge.foundation.origin import Origin, Scope

MOST_DESCRIPTION = 2048
INSTRUCTIONS = "mcp_instructions_delta"


def add_tools(s: Session, server: McpServer) -> None:
    """Gives a session the tools of a server that has just been connected."""
    tools, mine = [tool_of(server, offer) for offer in server.greeting.offers], s.keep(Servers)
    mine.remove[server.name] = [s.parts.tools.add(Component(t.name, t, t.origin)) for t in tools]
    if tools and s.parts.allowed is not None:
        names = s.parts.allowed | {tool.name for tool in tools}
        s.parts = msgspec.structs.replace(s.parts, allowed=names)
    if tools:
        mine.news = True
        tell_held_back(s)
    if server.greeting.instructions:
        mine.news = True
        put_first(s, INSTRUCTIONS, _instructions(s))


def drop_tools(s: Session, server: McpServer) -> None:
    """Takes the tools of a server away."""
    for remove in s.keep(Servers).remove.pop(server.name, []):
        remove()
    tell_held_back(s)
    put_first(s, INSTRUCTIONS, _instructions(s))


def tell_tools(s: Session) -> None:
    """Tools that came while the conversation was going on; the first prompt has its own list."""
    coming = {r.kind for r in s.reminders}
    told = [Told(DEFERRED, held_back(s)), Told(INSTRUCTIONS, _instructions(s))]
    new = [each for each in told if each.text and each.kind not in coming and not _heard(s, each.text)]
    if new and len(s.messages) > 1:
        tell_now(s, new)


def _instructions(s: Session) -> str:
    said = [(each.name, each.greeting.instructions[:MOST_DESCRIPTION]) for each in s.keep(Servers).all]
    blocks = [f"## {name}\n{words}" for name, words in said if words]
    return "\n\n".join(["# MCP Server Instructions", text("mcp_instructions"), *blocks]) if blocks else ""


def _heard(s: Session, words: str) -> bool:
    return any(isinstance(b, Text | Aside) and plain(b.text) == words for m in s.messages for b in m.blocks)


def tool_of(server: McpServer, offer: Offer) -> Tool:
    """A tool the model can call; the server checks the input itself."""

    async def run(given: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert isinstance(context, CallContext)
        result = await _called(server, offer.name, given, context.call.id)
        if is_error(result):
            context.keep(Servers).objections.add(context.call.id)
            raise ToolError(plain_text(result) or f"{offer.name} failed without saying why.")
        told = with_files(content(result, server.name), server.name, context)
        return ToolOutput(shortened(told, offer, context), msgspec.to_builtins(told))

    action: Action[Any] = Action(dict, run)
    return Tool(
        full_name(server.name, offer.name),
        offer.description[:MOST_DESCRIPTION],
        {"type": "object", "properties": {}, **offer.schema},
        lambda: action,
        Origin(Scope.PLUGIN if server.source == "plugin" else Scope.SESSION, server.name),
        read_only=offer.annotations.get("readOnlyHint") is True,
        validates=True,
        deferred=not _always_loaded(server, offer),
        remote=Remote(server.name, server.source, offer.name, offer.title),
    )


def lend_to_hooks(s: Session) -> None:
    """Lets hooks call tools of the session's servers."""
    engine = engine_of(s)
    servers = s.keep(Servers)

    async def call(name: str, tool: str, given: dict[str, Any]) -> str:
        server = next((each for each in servers.all if each.name == name), None)
        if server is None or server.status == FAILED:
            raise ToolError(f"MCP server '{name}' is not connected.")
        result = await _called(server, tool, given, "")
        if is_error(result):
            raise ToolError(plain_text(result))
        return plain_text(result)

    if engine is not None:
        engine.means = msgspec.structs.replace(engine.means, call_tool=call)


async def _called(server: McpServer, tool: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
    try:
        return await server.call(tool, given, call_id)
    except TimeoutError:
        seconds = server.launch.call_seconds or 0
        words = f'MCP server "{server.name}" tool "{tool}" timed out after {seconds:g}s'
    except Unavailable as error:
        words = str(error)
    raise ToolError(words)


def _always_loaded(server: McpServer, offer: Offer) -> bool:
    return server.config.get("alwaysLoad") is True or offer.meta.get("anthropic/alwaysLoad") is True
