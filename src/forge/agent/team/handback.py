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
from forge.core.job import Job, JobEnd
from forge.core.message import Text, Usage
from forge.core.models.errors import final_word
from forge.core.tool import ToolOutput
from forge.foundation.encode import dumps
from forge.foundation.origin import Scope

NO_REPORT = "(Subagent completed but returned no output.)"
# The caller has no use for their ids: what they found out is all there is to them.
_ONCE = ("Explore", "Plan")


class Work(msgspec.Struct, frozen=True):
    """What a sub-agent has done. `report` is its last text, `note` what Forge has to say about it.

    `error` is why it failed. `place` names the worktree that holds its work, if it had one of its own and
    used it.
    """

    status: str
    report: str
    figures: dict[str, int]
    usage: Usage
    model: str
    used: list[str]
    counts: dict[str, int]
    note: str = ""
    error: str = ""
    place: dict[str, str] = {}


def work_of(child: Session, host: ChildHost, ended: TurnEnded) -> Work:
    """The outcome of a sub-agent whose last turn has ended."""
    status, note, error = "completed", "", ""
    report = ended.result or child.turn.text
    if ended.subtype == "error_max_turns":
        note = _limit_note(child.parts.limits.max_turns, said=bool(report))
    elif ended.is_error and child.interrupted:
        status, report = "stopped", ""
    elif ended.is_error or not any(m.role == "assistant" for m in child.messages):
        status, error = "failed", _why(child, host, ended)
    model = child.model.card.id
    return Work(
        status, report, host.usage(), host.last_usage(), model, sorted(host.used), host.counts, note, error
    )


def launched(job: Job, model: str, *, lasting: bool) -> ToolOutput:
    """The result of a call whose agent works in the background; `lasting`: it can be spoken to later."""
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
        "canContinueAgent": lasting,
    }
    return ToolOutput([Text(words)], facts)


def handed_back(job: Job, work: Work, *, lasting: bool) -> ToolOutput:
    """The result of a call that waited for its agent; `lasting`: it can be spoken to later."""
    notes = [work.note] if work.note else []
    if work.used and (work.report or notes):
        notes.insert(0, f"<tools-used-before-summary>{', '.join(work.used)}</tools-used-before-summary>\n")
    figures = work.figures
    lines = [
        *(_indented(n) for n in notes),
        text("agent_handback"),
        _indented(work.report or NO_REPORT),
        *([] if job.agent_type in _ONCE else [_address(job, lasting=lasting)]),
        *(f"{key}: {value}" for key, value in work.place.items()),
        *([] if job.agent_type in _ONCE else [_spent(figures)]),
    ]
    facts: dict[str, Any] = {
        "status": "completed",
        "prompt": job.prompt,
        "agentId": job.id,
        "agentType": job.agent_type,
        **({"toolsUsed": work.used} if work.used else {}),
        "content": [Text(t) for t in (*notes, work.report) if t],
        "resolvedModel": work.model,
        "totalDurationMs": figures["duration_ms"],
        "totalTokens": figures["total_tokens"],
        "totalToolUseCount": figures["tool_uses"],
        "usage": usage_record(work.usage),
        **({"toolStats": work.counts} if any(work.counts.values()) else {}),
        **work.place,
        "canContinueAgent": lasting,
    }
    return ToolOutput([Text("\n".join(lines))], facts)


def job_end(job: Job, work: Work) -> JobEnd:
    """The end of a sub-agent as that of a job."""
    summary = ended_as(job, work.status)
    if work.error:
        return JobEnd("failed", f"{summary}: {work.error}", error=work.error)
    if work.status == "stopped":
        return JobEnd("stopped", summary)
    place = "".join(f"<{key}>{value}</{key}>" for key, value in work.place.items())
    facts = {"worktree": place} if place else {}
    report = f"{work.note}\n{work.report}" if work.note else work.report
    return JobEnd(work.status, summary, report, dict(work.figures), facts)


def ended_as(job: Job, status: str) -> str:
    """How a sub-agent ended, in a few words."""
    how = {"completed": "finished", "failed": "failed", "stopped": "was stopped"}[status]
    return f'Agent "{job.description}" {how}'


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
        # The reference asks for a model by this name if it wakes the agent.
        "model": member.ref.removeprefix("anthropic/"),
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


def _why(child: Session, host: ChildHost, ended: TurnEnded) -> str:
    failed = host.failure
    if failed is None:
        return "; ".join(ended.errors) or ended.result or "No assistant messages found"
    facts = [
        f"error type {final_word(failed.kind)}",
        *([f"HTTP {failed.status}"] if failed.status else []),
        *([f"request id {failed.request_id}"] if failed.request_id else []),
        f"model sent to the API: {child.model.card.id}",
    ]
    return f"Agent terminated early due to an API error: {failed.text} ({', '.join(facts)})"


def _limit_note(turns: int | None, *, said: bool) -> str:
    what = "What it said last follows and may be incomplete." if said else "It has not reported anything yet."
    return (
        f"NOTE: this agent stopped at its {turns}-turn limit before finishing. {what}"
        " A message (SendMessage) lets it go on from there.\n"
    )


def _address(job: Job, *, lasting: bool) -> str:
    how = f" (use SendMessage with to: '{job.id}', summary: '<5-10 word recap>' to continue this agent)"
    return f"agentId: {job.id}{how if lasting else ''}"


def _spent(figures: dict[str, int]) -> str:
    return (
        f"<usage>subagent_tokens: {figures['total_tokens']}\ntool_uses: {figures['tool_uses']}\n"
        f"duration_ms: {figures['duration_ms']}</usage>"
    )


def _indented(words: str) -> str:
    return "\n".join(f"  {line}" for line in words.split("\n"))
