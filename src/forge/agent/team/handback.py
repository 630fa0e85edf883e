"""How a sub-agent's work comes back: as a call's result, as the news of a job's end, and on disk."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.event import TurnEnded
from forge.agent.ledger import usage_record
from forge.agent.session import Session
from forge.agent.team.child import transcript_path
from forge.agent.team.child_host import ChildHost
from forge.agent.team.crew import Member
from forge.agent.texts.load import text
from forge.core.job import Job
from forge.core.message import Text, Usage
from forge.core.tool import ToolOutput
from forge.foundation.encode import dumps
from forge.foundation.origin import Scope

NO_REPORT = "(The agent ended without a report.)"


class Work(msgspec.Struct, frozen=True):
    """What a sub-agent has done. `report` is its last text, or why there is none.

    `place` names the worktree that holds its work, if it had one of its own and used it.
    """

    status: str
    report: str
    figures: dict[str, int]
    usage: Usage
    model: str
    used: list[str]
    counts: dict[str, int]
    place: dict[str, str] = {}


def work_of(child: Session, host: ChildHost, ended: TurnEnded) -> Work:
    """The outcome of a sub-agent whose last turn has ended."""
    status, report = "completed", ended.result or child.turn.text
    if ended.subtype == "error_max_turns":
        report = _limit_note(child.parts.limits.max_turns) + report
    elif ended.is_error:
        status = "stopped" if child.interrupted else "failed"
        report = ended.result or "; ".join(ended.errors)
    used = list(dict.fromkeys(host.used))
    figures, usage = host.usage(), host.last_usage()
    return Work(status, report or NO_REPORT, figures, usage, child.model.card.id, used, host.counts)


def launched(job: Job, model: str) -> ToolOutput:
    """The result of a call whose agent works in the background."""
    words = text("agent_launched").replace("{id}", job.id).replace("{output}", job.output_path)
    facts = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": job.id,
        "description": job.description,
        "resolvedModel": model,
        "prompt": job.prompt,
        "outputFile": job.output_path,
        "canReadOutputFile": True,
        "canContinueAgent": True,
    }
    return ToolOutput([Text(words)], facts)


def handed_back(job: Job, work: Work) -> ToolOutput:
    """The result of a call that waited for its agent."""
    note = f"<tools-used-before-summary>{', '.join(work.used)}</tools-used-before-summary>\n"
    notes = [note] if work.used else []
    figures = work.figures
    lines = [
        *(_indented(n) for n in notes),
        text("agent_handback"),
        _indented(work.report),
        f"agentId: {job.id} (use SendMessage with to: '{job.id}',"
        " summary: '<5-10 word recap>' to continue this agent)",
        *(f"{key}: {value}" for key, value in work.place.items()),
        f"<usage>subagent_tokens: {figures['total_tokens']}",
        f"tool_uses: {figures['tool_uses']}",
        f"duration_ms: {figures['duration_ms']}</usage>",
    ]
    facts = {
        "status": "completed",
        "prompt": job.prompt,
        "agentId": job.id,
        "agentType": job.agent_type,
        "toolsUsed": work.used,
        "content": [Text(t) for t in (*notes, work.report)],
        "resolvedModel": work.model,
        "totalDurationMs": figures["duration_ms"],
        "totalTokens": figures["total_tokens"],
        "totalToolUseCount": figures["tool_uses"],
        "usage": usage_record(work.usage),
        "toolStats": work.counts,
        **work.place,
        "canContinueAgent": True,
    }
    return ToolOutput([Text("\n".join(lines))], facts)


def write_meta(s: Session, member: Member, **more: Any) -> None:
    """Writes what is known of a sub-agent beside its transcript; a full disk does not stop the agent."""
    path = transcript_path(s, member.job.id)
    if not path:
        return
    job = member.job
    builtin = any(c.origin.scope is Scope.BUILTIN for c in s.parts.agents.find(member.kind.name)[:1])
    meta = {
        "agentType": job.agent_type,
        "isBuiltIn": builtin,
        "description": job.description,
        "toolUseId": job.tool_use_id,
        **({"parentAgentId": job.parent_id} if job.parent_id else {}),
        "spawnDepth": job.depth,
        "requestShape": "background" if job.backgrounded else "foreground",
        "model": member.ref,
        **more,
    }
    try:
        _replace(f"{path.removesuffix('.jsonl')}.meta.json", dumps(meta))
    except OSError as error:
        s.warn(f"The description of agent {job.id} cannot be saved: {error.strerror}.")


def _replace(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    beside = f"{path}.new"
    with open(beside, "wb") as file:
        file.write(data)
    os.replace(beside, path)


def _limit_note(turns: int | None) -> str:
    return (
        f"NOTE: this agent stopped at its {turns}-turn limit before finishing."
        " What it said last follows; it may be incomplete.\n"
    )


def _indented(words: str) -> str:
    return "\n".join(f"  {line}" for line in words.split("\n"))
