"""Finds a sub-agent of an earlier run of the same conversation by what it left on disk."""

from __future__ import annotations

import msgspec

from forge.agent.session import Session
from forge.agent.team.agents import DEFAULT_TYPE, find_agent
from forge.agent.team.child import transcript_path
from forge.agent.team.crew import Crew, Member
from forge.core.job import Job, JobEnd
from forge.foundation.lenient import read_as


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    """What is known of a sub-agent; files of the reference program have the same names."""

    agent_type: str = DEFAULT_TYPE
    description: str = ""
    tool_use_id: str = ""
    spawn_depth: int = 1
    parent_agent_id: str = ""
    model: str = ""
    status: str = "completed"


def recall(s: Session, agent_id: str) -> Member | None:
    """The agent of that id, ready to be woken; None if there was none."""
    path = transcript_path(s, agent_id)
    if not path or not agent_id.isalnum():
        return None
    meta = read_as(f"{path.removesuffix('.jsonl')}.meta.json", Meta)
    if meta is None:
        return None
    agents = s.parts.agents
    kind = find_agent(agents, meta.agent_type) or agents[DEFAULT_TYPE]
    job = Job(
        id=agent_id,
        kind="local_agent",
        description=meta.description,
        run=_nothing,
        tool_use_id=meta.tool_use_id,
        output_path=path,
        agent_type=kind.name,
        depth=meta.spawn_depth,
        parent_id=meta.parent_agent_id,
    )
    member = Member(job, kind, meta.model)
    member.ref, member.status, member.counted = meta.model, meta.status, False
    s.keep(Crew).members[agent_id] = member
    return member


async def _nothing() -> JobEnd:
    return JobEnd("completed", "")
