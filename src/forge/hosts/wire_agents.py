"""Sub-agents as stream-json records: their messages carry the call that started them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent.event import AgentProgress, AgentSaid, ApiFailed, Denied, Event, Noted, Replied, ToolFinished
from forge.core.job import Job, run_id
from forge.core.message import ToolUse

Record = dict[str, Any]


def said(e: AgentSaid, records: Callable[[Event], list[Record]], *, forward_text: bool) -> list[Record]:
    """What a host sees of a sub-agent's conversation; of those it started itself only if all is forwarded."""
    if (e.job.depth > 1 and not forward_text) or not _shown(e, forward_text=forward_text):
        return []
    made = records(e.event)
    for record in made:
        _tag(record, e.job)
    return made


def progress(e: AgentProgress, system: Callable[..., Record]) -> list[Record]:
    """A sub-agent calls a tool."""
    job = e.job
    return [
        system(
            "task_progress",
            task_id=job.id,
            run_id=run_id(job.id),
            tool_use_id=job.tool_use_id or None,
            description=e.activity,
            subagent_type=job.agent_type,
            usage=e.usage,
            last_tool_name=e.tool_name,
        )
    ]


def _shown(e: AgentSaid, *, forward_text: bool) -> bool:
    event = e.event
    if isinstance(event, Replied):
        return isinstance(event.block, ToolUse) or e.final != forward_text
    return isinstance(event, ToolFinished | Noted | Denied) or (isinstance(event, ApiFailed) and e.final)


def _tag(record: Record, job: Job) -> None:
    record["agent_id"] = job.id
    if record["type"] == "system":
        return
    # Of what a tool has to say beyond its text only failures are passed on.
    if not isinstance(record.get("tool_use_result"), str):
        record.pop("tool_use_result", None)
    record.pop("api_error_status", None)
    record["parent_tool_use_id"] = job.tool_use_id
    record["subagent_type"] = job.agent_type
    record["task_description"] = job.description
