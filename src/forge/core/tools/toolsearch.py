"""ToolSearch: loads tools the model knows by name only."""

from __future__ import annotations

import msgspec

from forge.core.message import Block
from forge.core.shelf import Shelf, find
from forge.core.tool import Action, ToolContext, ToolOutput


class Args(msgspec.Struct, frozen=True):
    query: str
    max_results: float = 5


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Finds tools and has the next request carry their schemas."""
    shelf = ctx.keep(Shelf)
    tools = shelf.tools()
    names = find(args.query, tools, int(args.max_results))
    shelf.loaded.update(names)
    total = sum(tool.deferred for tool in tools)
    data = {"matches": names, "query": args.query, "total_deferred_tools": total}
    if not names:
        return ToolOutput("No matching deferred tools found", data)
    blocks: list[Block] = [{"type": "tool_reference", "tool_name": name} for name in names]
    return ToolOutput(blocks, data, note="Tool loaded.")


ACTION: Action[Args] = Action(Args, run)
