"""Talking to sub-agents: who is there, and a message to one of them."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.context import CallContext
from forge.agent.recall import recall
from forge.agent.session import Prompt, Session
from forge.agent.team.crew import Crew, Member, Seat
from forge.agent.team.subagent import go_on
from forge.core.message import Text
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.encode import dumps

_NOBODY = "No reachable agents."


class Letter(msgspec.Struct, frozen=True):
    """The input of SendMessage."""

    to: str
    message: str = ""
    summary: str = ""
    notify_when_idle: bool = False


class Search(msgspec.Struct, frozen=True):
    """The input of ListAgents."""

    channel: str = ""
    q: str = ""


async def list_agents(search: Search, context: ToolContext) -> ToolOutput:
    """Lists the sub-agents of the conversation."""
    shown = list(context.keep(Crew).members.values())
    if not shown:
        return ToolOutput(_NOBODY, {"listing": _NOBODY, "notes": [], "sections": []})
    words = "\n".join([f"Subagents ({len(shown)}):", *(f"  {_line(m)}" for m in shown)])
    rows = [{"id": m.job.id, "type": m.kind.name, "status": _status(m)} for m in shown]
    section = {"kind": "subagents", "rows": rows, "total": len(rows)}
    return ToolOutput(words, {"listing": words, "notes": [], "sections": [section]})


async def check_letter(letter: Letter, context: ToolContext) -> None:
    """Refuses what reaches nobody."""
    if letter.to.strip() == "*":
        raise ToolError('broadcast (to: "*") is no longer supported — send a message per recipient')
    if not letter.message.strip():
        raise ToolError("message must not be empty")


async def send_message(letter: Letter, context: ToolContext) -> ToolOutput:
    """Gives a message to a running sub-agent, or wakes one that has ended."""
    if not isinstance(context, CallContext):
        raise ToolError("Sub-agents need a session.")
    wanted = letter.to.strip()
    if wanted == "main" and not context.keep(Seat).depth:
        words = 'You are the main conversation — "main" addresses you. Send to a named agent instead.'
        return _answer({"success": False, "message": words})
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
SEND_MESSAGE = Action(Letter, send_message, check_letter)


def _deliver(s: Session, child: Session, message: str) -> None:
    if child is s:
        raise ToolError("An agent cannot send a message to itself.")
    child.wake(Prompt(message, s.parts.new_id(), verbatim=True))


def _line(m: Member) -> str:
    return "  ·  ".join((m.job.id, m.kind.name, _status(m), m.job.description))


def _status(m: Member) -> str:
    return "killed" if m.status == "stopped" else m.status
