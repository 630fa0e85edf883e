"""CronList: what is scheduled in this session."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from forge.core.agenda import Agenda, Entry
from forge.core.schedule import at_clock, in_words
from forge.core.tool import Action, ToolContext, ToolOutput

_SHOWN = 80


class Args(msgspec.Struct, frozen=True):
    pass


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Lists the scheduled prompts."""
    entries = ctx.keep(Agenda).crons()
    text = "\n".join(map(_line, entries)) or "No scheduled jobs."
    return ToolOutput(text, {"jobs": [_row(entry) for entry in entries]})


def _line(entry: Entry) -> str:
    kind = "recurring" if entry.recurring else "one-shot"
    prompt = entry.prompt if len(entry.prompt) <= _SHOWN else f"{entry.prompt[: _SHOWN - 1]}…"
    when = at_clock(datetime.fromtimestamp(entry.due))
    return f"{entry.id} — {in_words(entry.cron)} ({kind}) [session-only], next run {when}: {prompt}"


def _row(entry: Entry) -> dict[str, Any]:
    row = {"id": entry.id, "cron": entry.cron, "humanSchedule": in_words(entry.cron), "prompt": entry.prompt}
    repeated = {"recurring": True} if entry.recurring else {}
    return {**row, **repeated, "durable": False, "nextFireAt": int(entry.due * 1000)}


ACTION: Action[Args] = Action(Args, run)
