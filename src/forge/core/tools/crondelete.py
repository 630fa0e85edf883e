"""CronDelete: cancels a scheduled prompt."""

from __future__ import annotations

import msgspec

from forge.core.agenda import Agenda
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput


class Args(msgspec.Struct, frozen=True):
    id: str


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses an id nothing is scheduled under."""
    if args.id not in ctx.keep(Agenda).entries:
        raise ToolError(f"No scheduled job with id '{args.id}'")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Cancels it; it may have come due in the meantime."""
    if not ctx.keep(Agenda).drop(args.id, ctx.stop_job):
        raise ToolError(f"No scheduled job with id '{args.id}'")
    return ToolOutput(f"Cancelled job {args.id}.", {"id": args.id})


ACTION: Action[Args] = Action(Args, run, check)
