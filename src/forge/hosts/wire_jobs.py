"""Background jobs as stream-json records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent.event import JobEnded, JobsChanged, JobStarted
from forge.core.job import JobView, run_id

Record = dict[str, Any]


def started(e: JobStarted, system: Callable[..., Record]) -> list[Record]:
    """A job was started, or is no longer waited for."""
    job = e.job
    if e.moved:
        return [
            system("task_updated", task_id=job.id, run_id=run_id(job.id), patch={"is_backgrounded": True})
        ]
    return [
        system(
            "task_started",
            task_id=job.id,
            run_id=run_id(job.id),
            tool_use_id=job.tool_use_id or None,
            description=job.description,
            subagent_type=job.agent_type or None,
            is_backgrounded=job.backgrounded,
            spawn_depth=job.depth or None,
            parent_task_id=job.parent_id or None,
            task_type=job.kind,
            prompt=job.prompt or None,
        )
    ]


def ended(e: JobEnded, system: Callable[..., Record], now: float) -> list[Record]:
    """A job is over."""
    job, end = e.job, e.end
    patch = {"status": "killed" if end.status == "stopped" else end.status, "end_time": round(now * 1000)}
    if end.error:
        patch["error"] = end.error
    updated = system("task_updated", task_id=job.id, run_id=run_id(job.id), patch=patch)
    # The end of a command that a call has waited for is no change: it never went on by itself.
    before = [updated] if job.backgrounded or job.kind == "local_agent" else []
    return [
        *before,
        system(
            "task_notification",
            task_id=job.id,
            run_id=run_id(job.id),
            tool_use_id=job.tool_use_id or None,
            status=end.status,
            output_file=job.output_path,
            summary=end.error or end.result or job.description if job.kind == "local_agent" else end.summary,
            usage=end.usage,
        ),
    ]


def changed(e: JobsChanged, system: Callable[..., Record]) -> list[Record]:
    """The set of running jobs is another."""
    return [system("background_tasks_changed", tasks=[_row(view) for view in e.running])]


def _row(view: JobView) -> Record:
    row = {
        "task_id": view.id,
        "run_id": run_id(view.id),
        "task_type": view.kind,
        "description": view.description,
    }
    return {**row, "subagent_type": view.agent_type} if view.agent_type else row
