"""Talking to sub-agents: who is there, and a message to one of them."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.context import CallContext
from forge.agent.recall import recall
from forge.agent.session import Prompt, Session
from forge.agent.team.crew import Crew, Member
from forge.agent.team.subagent import go_on
from forge.core.message import Text
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.encode import dumps


class Letter(msgspec.Struct, frozen=True):
    """The input of SendMessage."""

    to: str
    message: str
    summary: str = ""
    notify_when_idle: bool = False


class Search(msgspec.Struct, frozen=True):
    """The input of ListAgents."""

    channel: str = ""
    q: str = ""


async def list_agents(search: Search, context: ToolContext) -> ToolOutput:
    """Lists the sub-agents of the conversation."""
    members = context.keep(Crew).members.values()
    shown = [m for m in members if search.q.lower() in _line(m).lower()]
    facts = [
        {"id": m.job.id, "type": m.kind.name, "status": m.status, "task": m.job.description} for m in shown
    ]
    if not shown:
        return ToolOutput("No agents found.", {"agents": facts})
    return ToolOutput("\n".join(_line(m) for m in shown), {"agents": facts})


async def send_message(letter: Letter, context: ToolContext) -> ToolOutput:
    """Gives a message to a running sub-agent, or wakes one that has ended."""
    if not isinstance(context, CallContext):
        raise ToolError("Sub-agents need a session.")
    wanted = letter.to.strip()
    member = context.keep(Crew).members.get(wanted) or recall(context.session, wanted)
    if member is None:
        words = f"No agent named '{letter.to}' is reachable.\nUse ListAgents to see everyone you can message."
        return _answer({"success": False, "message": words})
    name = member.job.id
    if member.session is not None:
        _deliver(context.session, member.session, letter.message)
        words = (
            f"Message queued for delivery to {name} at its next tool round. If it finishes first, it goes on"
            " with the message and notifies you again."
        )
        return _answer({"success": True, "message": words, "agentId": name})
    go_on(context, member, letter.message)
    return _answer({"success": True, "message": f"Resuming agent {name[:7]}", "resumedAgentId": name})


def _answer(facts: dict[str, Any]) -> ToolOutput:
    return ToolOutput([Text(dumps(facts).decode())], facts)


LIST_AGENTS = Action(Search, list_agents)
SEND_MESSAGE = Action(Letter, send_message)


def _deliver(s: Session, child: Session, message: str) -> None:
    if child is s:
        raise ToolError("An agent cannot send a message to itself.")
    child.wake(Prompt(message, s.parts.new_id(), verbatim=True))


def _line(m: Member) -> str:
    return f"{m.job.id}  {m.kind.name}  {m.status}  {m.job.description}"
