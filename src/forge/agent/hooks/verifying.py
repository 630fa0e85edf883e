"""Runs an agent hook: a sub-agent looks into the matter with tools and hands over its judgement."""

from __future__ import annotations

import os

import msgspec

from forge.agent.drive import Patience, drive
from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.judging import Judgement, question
from forge.agent.hooks.output import Output
from forge.agent.hooks.port import NoHooks
from forge.agent.hooks.run import Firing
from forge.agent.session import Limits, Prompt, Session, Structured
from forge.agent.structured import NAME, structured_output_tool
from forge.agent.team.child import child_session
from forge.core.components.agent_type import AgentType
from forge.core.job import Job, JobEnd
from forge.core.registry import Component, Registry
from forge.core.tool import Tool, ToolError
from forge.foundation.errors import ForgeError

MAX_TURNS = 50
NOT_MET = "Agent hook condition was not met: "
_SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["ok", "reason"],
    "additionalProperties": False,
}
_KIND = AgentType("hook-agent", "Checks a condition for a hook.", text="hook_agent")


async def run(firing: Firing, hook: Hook) -> Run:
    """The judgement of the sub-agent; one that hands over nothing has failed."""
    owed = Structured(_SCHEMA)
    try:
        child = _child(firing.session, hook, owed)
        prompt = Prompt(question(hook, firing.payload), firing.session.parts.new_id(), verbatim=True)
        await drive(child, prompt, Patience(others=0.0))
    except (ForgeError, ToolError) as error:
        return Run(hook, None, failure=str(error))
    if owed.value is msgspec.UNSET:
        return Run(hook, None, failure="The agent ended without a judgement.")
    judgement = msgspec.convert(owed.value, Judgement)
    if judgement.ok:
        return Run(hook)
    return Run(hook, output=Output(decision="block", reason=f"{NOT_MET}{judgement.reason}"))


def _child(s: Session, hook: Hook, owed: Structured) -> Session:
    job = Job(
        id=f"a{os.urandom(8).hex()}",
        kind="local_agent",
        description="hook",
        run=_never,
        agent_type=_KIND.name,
        depth=1,
    )
    child = child_session(s, job, _KIND, (str(hook.fields.get("model", "")), ""))
    tool = structured_output_tool(owed)
    tools: Registry[Tool] = Registry([c.origin.scope for c in s.parts.tools][:1] or [tool.origin.scope])
    for component in [*s.parts.tools, Component(tool.name, tool, tool.origin)]:
        if component.name != NAME or component.value is tool:
            tools.add(component)
    allowed = (child.parts.allowed or frozenset()) - {"Agent"} | {NAME}
    child.parts = msgspec.structs.replace(
        child.parts, tools=tools, allowed=allowed, hooks=NoHooks(), structured=owed, limits=Limits(MAX_TURNS)
    )
    child.structured, child.hooks, child.host = owed, child.parts.hooks, _Silent(s)
    return child


async def _never() -> JobEnd:
    return JobEnd("stopped", "")


class _Silent:
    """Nobody watches the agent of a hook; whoever can be asked may be asked."""

    def __init__(self, s: Session) -> None:
        self.ask = s.host.ask

    def emit(self, event: object) -> None:
        pass
