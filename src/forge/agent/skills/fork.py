"""Skills with `context: fork`: a sub-agent follows the instructions and its last words are the result."""

from __future__ import annotations

from forge.agent.context import CallContext
from forge.agent.hooks.lending import skill_hooks
from forge.agent.team.agents import DEFAULT_TYPE, find_agent
from forge.agent.team.subagent import Wish, wait_for
from forge.core.components.kinds import Skill
from forge.core.registry import Component
from forge.core.tool import ToolError


async def forked(context: CallContext, found: Component[Skill], words: str) -> tuple[str, str]:
    """The report of the sub-agent, and its id; ToolError if it has none."""
    skill = found.value
    agents = context.session.parts.agents
    kind = find_agent(agents, skill.agent) if skill.agent else None
    name = kind.name if kind is not None else DEFAULT_TYPE
    wish = Wish(f"/{found.name}", words, name, skill.model, skill.effort, run_in_background=False)
    take_back = skill_hooks(context.session, skill, found.origin)
    try:
        member, work = await wait_for(context, wish)
    finally:
        take_back()
    if work.status != "completed":
        why = work.error or "it was interrupted"
        raise ToolError(f"Skill '{found.name}' {work.status}: {why}\nagentId: {member.job.id}")
    return work.report, member.job.id
