"""CronCreate: has a prompt sent to the model at a time, as long as the process lives."""

from __future__ import annotations

from datetime import datetime

import msgspec

from forge.core.agenda import Agenda
from forge.core.schedule import at_clock, in_words, next_run, parse_cron
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput

MAX_ENTRIES = 50


class Args(msgspec.Struct, frozen=True):
    cron: str
    prompt: str
    recurring: bool = True
    durable: bool = False


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what is no cron expression or never comes."""
    agenda = ctx.keep(Agenda)
    _due(args, agenda.now())
    if len(agenda.entries) >= MAX_ENTRIES:
        raise ToolError(
            f"There are {MAX_ENTRIES} scheduled prompts already. Cancel one with CronDelete first."
        )


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Schedules the prompt; the wish to keep it beyond the process is answered, not granted."""
    agenda = ctx.keep(Agenda)
    due = _due(args, agenda.now())
    entry = agenda.add(args.prompt, due.timestamp(), ctx.begin, cron=args.cron, recurring=args.recurring)
    words = in_words(args.cron)
    what = "recurring job" if args.recurring else "one-shot task"
    then = (
        "Auto-expires after 7 days. Use CronDelete to cancel sooner."
        if args.recurring
        else "It will fire once then auto-delete."
    )
    wish = " (durable is not supported yet: it was not saved)" if args.durable else ""
    text = (
        f"Scheduled {what} {entry.id} ({words}). Next run: {at_clock(due)}. "
        f"Session-only (not written to disk, dies when Claude exits){wish}. {then}"
    )
    data = {
        "id": entry.id,
        "humanSchedule": words,
        "recurring": args.recurring,
        "durable": False,
        "nextFireAt": int(entry.due * 1000),
    }
    return ToolOutput(text, data)


def _due(args: Args, now: float) -> datetime:
    cron = parse_cron(args.cron)
    if cron is None:
        raise ToolError(f"Invalid cron expression '{args.cron}'. Expected 5 fields: M H DoM Mon DoW.")
    moment = next_run(cron, datetime.fromtimestamp(now))
    if moment is None:
        raise ToolError(f"Cron expression '{args.cron}' does not match any calendar date in the next year.")
    return moment


ACTION: Action[Args] = Action(Args, run, check)
