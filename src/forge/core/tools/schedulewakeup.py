"""ScheduleWakeup: wakes the model after a while; one wakeup at a time."""

from __future__ import annotations

import math
from datetime import datetime

import msgspec

from forge.core.agenda import Agenda
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput

SHORTEST, LONGEST = 60, 3600
_THEN = (
    "If you owe the user a status update this tick, write it now as ordinary response text; then end the "
    "turn — the harness re-invokes you when the wakeup fires or a task-notification arrives."
)
_AFTERWARDS = (
    "If you armed a Monitor for this loop, TaskStop it now. Then write the loop's outcome for the user as "
    "ordinary visible response text — and end the turn."
)
_NONE = (
    "any dynamic loop in this session is ended; there was no pending wakeup to cancel. If you are running a "
    "fixed-interval /loop (a recurring cron), it is NOT stopped by this call — cancel it with CronDelete."
)


class Args(msgspec.Struct, frozen=True):
    delay: float | None = msgspec.field(default=None, name="delaySeconds")
    reason: str | None = None
    prompt: str | None = None
    stop: bool = False
    noop: bool = False


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Schedules, replaces or cancels the wakeup."""
    agenda = ctx.keep(Agenda)
    if not args.stop and (args.delay is None or args.reason is None):
        raise ToolError("`delaySeconds` and `reason` are required when `stop` is not true.")
    if not args.stop and not args.prompt:
        raise ToolError("`prompt` is required when `stop` is not true.")
    dropped = sum(agenda.drop(entry.id, ctx.stop_job) for entry in agenda.wakeups())
    if args.stop or args.delay is None or not args.prompt:
        return _stopped(dropped)
    delay = min(max(args.delay, SHORTEST), LONGEST) if math.isfinite(args.delay) else LONGEST
    now = agenda.now()
    # Wakeups come at full minutes, like everything that is scheduled.
    entry = agenda.add(args.prompt, math.ceil((now + delay) / 60) * 60.0, ctx.begin)
    return _scheduled(args.delay, delay, (now, entry.due))


def _scheduled(wanted: float, delay: float, times: tuple[float, float]) -> ToolOutput:
    now, due = times
    clock = datetime.fromtimestamp(due).strftime("%H:%M:%S")
    clamped = f" (clamped to {delay:g}s from your requested value)" if delay != wanted else ""
    data = {
        "scheduledFor": int(due * 1000),
        "clampedDelaySeconds": delay,
        "wasClamped": delay != wanted,
    }
    return ToolOutput(f"Next wakeup scheduled for {clock} (in {round(due - now)}s){clamped}. {_THEN}", data)


def _stopped(dropped: int) -> ToolOutput:
    cancelled = f"cancelled {dropped} pending wakeup(s); no further dynamic-loop wakeups scheduled."
    data = {
        "scheduledFor": 0,
        "clampedDelaySeconds": 0,
        "wasClamped": False,
        "stopped": True,
        "cancelledWakeups": dropped,
    }
    return ToolOutput(f"Loop stopped — {cancelled if dropped else _NONE} {_AFTERWARDS}", data)


ACTION: Action[Args] = Action(Args, run)
