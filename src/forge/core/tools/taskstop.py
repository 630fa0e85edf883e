"""The TaskStop tool: ends a job of the session."""

from __future__ import annotations

import asyncio

import msgspec

from forge.core.job import JobView
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.encode import dumps

_PAUSE, _LOOKS = 0.005, 600


class Args(msgspec.Struct, frozen=True):
    task_id: str = ""
    shell_id: str = ""


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what does not name a running job."""
    _found(args, ctx)


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Stops the job."""
    job = _found(args, ctx)
    if not ctx.stop_job(job.id):
        raise ToolError(f"No task found with ID: {job.id}")
    await _gone(job.id, ctx)
    what = job.command or job.description
    data = {
        "message": f"Successfully stopped task: {job.id} ({what})",
        "task_id": job.id,
        "task_type": job.kind,
        "command": what,
    }
    return ToolOutput(dumps(data).decode(), data)


async def _gone(job_id: str, ctx: ToolContext) -> None:
    """Waits until the job has ended, which takes longer if it does not want to."""
    for _ in range(_LOOKS):
        if not any(job.id == job_id and job.status == "running" for job in ctx.jobs()):
            return
        await asyncio.sleep(_PAUSE)


def _found(args: Args, ctx: ToolContext) -> JobView:
    wanted = args.task_id or args.shell_id
    if not wanted:
        raise ToolError("Missing required parameter: task_id")
    for job in ctx.jobs():
        if job.id == wanted and job.status == "running":
            return job
    raise ToolError(f"No task found with ID: {wanted}")


ACTION: Action[Args] = Action(Args, run, check)
