"""The first request of a host: what it brings along, and what it is told about this program."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.hooks.lending import bind_hooks
from forge.agent.prompt import system_prompt
from forge.agent.session import Session, Structured
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.structured import NAME as STRUCTURED_OUTPUT
from forge.agent.structured import structured_output_tool
from forge.agent.team.agents import find_main_agent
from forge.agent.team.crew import Crew
from forge.core.registry import Component
from forge.core.schema_check import check_schema
from forge.foundation.errors import UsageError
from forge.hosts.agent_options import agent_rows, as_agent, limit_main_agent, take_agents, tell_agents
from forge.hosts.control_facts import model_rows
from forge.hosts.control_hooks import take_hooks
from forge.hosts.control_mcp import take_servers
from forge.hosts.control_seat import Refused, Request, Seat
from forge.hosts.control_session import rename_session, use_model
from forge.hosts.control_wishes import take_wishes
from forge.hosts.early import named_plugins
from forge.hosts.offer import offered
from forge.hosts.parts.rows import command_rows, style_rows
from forge.hosts.system_text import appended_text, own_system_prompt
from forge.hosts.wire import CAPABILITIES
from forge.version import COMPATIBLE_WITH, VERSION

# Where hosts want the part of their prompt to end that is the same for everybody.
_BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"


def initialize(seat: Seat, request: Request) -> dict[str, Any]:
    """Takes over what the host defines and describes the session; refuses what would be ignored silently."""
    try:
        take_hooks(seat, request)
    except Refused as refused:
        seat.barred = str(refused)
        raise
    seat.barred = ""
    take_servers(seat, request)
    take_agents(seat.session, request)
    adopted = _adopt_agent(seat)
    _take_prompts(seat, request, adopted=adopted)
    _take_schema(seat.session, request)
    take_wishes(seat.session, request)
    if isinstance(request.get("title"), str) and request["title"].strip():
        rename_session(seat, {"subtype": "initialize", "title": request["title"]})
    seat.siblings = {"pending_permission_requests": [], "pending_user_dialog_requests": []}
    session, choice = seat.session, seat.choice
    official = choice.card.provider == "anthropic"
    return {
        "commands": command_rows(session),
        "agents": agent_rows(session),
        "output_style": session.keep(Ecosystem).style,
        "available_output_styles": style_rows(session),
        "user_output_styles_dir": os.path.join(seat.c.places.claude_dir, "output-styles"),
        "models": model_rows(seat),
        "account": {
            "tokenSource": "none",
            "apiKeySource": choice.key_source,
            "apiProvider": "firstParty" if official else choice.card.provider,
        },
        "pid": os.getpid(),
        "claude_code_version": COMPATIBLE_WITH,
        "forge_version": VERSION,
        "current_permission_mode": session.situation.mode,
        "hook_on_failure_supported": True,
        "analytics_disabled": True,
        "fast_mode_state": "off",
        "fast_mode_disabled_reason": "sdk_opt_in_required",
        "session_state": "running" if seat.waiting.busy else "idle",
        "capabilities": CAPABILITIES,
        **_applied(session, request),
    }


def _applied(session: Session, request: Request) -> dict[str, bool]:
    """Whether what the host brought along is in force."""
    applied = {"hooks_applied": True} if request.get("hooks") else {}
    if paths := named_plugins(request):
        loaded = {os.path.realpath(str(row.get("path"))) for row in session.keep(Ecosystem).plugins}
        applied["plugins_applied"] = {os.path.realpath(path) for path in paths} <= loaded
    return applied


def _adopt_agent(seat: Seat) -> bool:
    """Makes an agent the host has just defined the main one; false if that is not wanted."""
    name, session = seat.awaited, seat.session
    if not name:
        return False
    before = seat.o.model
    try:
        seat.o = as_agent(seat.o, session.parts.agents, name)
    except UsageError as error:
        seat.barred = str(error)
        raise
    seat.awaited = ""
    if seat.o.model and seat.o.model != before:
        announced = len(seat.before)
        use_model(seat, seat.o.model)
        del seat.before[announced:]
    names = [component.name for component in session.parts.tools]
    allowed = offered(seat.o, seat.c, session.model.card, names)
    session.keep(Crew).spare = (session.parts.allowed or frozenset()) - allowed
    session.parts = msgspec.structs.replace(session.parts, allowed=allowed)
    limit_main_agent(session, name)
    kind = find_main_agent(session.parts.agents, name)
    session.keep(Ecosystem).opening = kind.initial_prompt if kind is not None and not session.messages else ""
    bind_hooks(session, name)
    tell_agents(session)
    return True


def _take_prompts(seat: Seat, request: Request, *, adopted: bool) -> None:
    own, added = request.get("systemPrompt"), request.get("appendSystemPrompt")
    if isinstance(own, list):
        own = "\n\n".join(p for p in own if isinstance(p, str) and p != _BOUNDARY)
    own = own if isinstance(own, str) else None
    if own is None and not isinstance(added, str) and not adopted:
        return
    session, o = seat.session, seat.o
    custom = own_system_prompt(o) if own is None or (adopted and not own) else own
    more = added if isinstance(added, str) else appended_text(o)
    session.system = system_prompt(custom, more, bare=o.bare)
    if custom is not None:
        session.reminders = [r for r in session.reminders if r.kind != "session_context"]
        session.standing = [r for r in session.standing if r.kind != "session_context"]


def _take_schema(session: Session, request: Request) -> None:
    schema = request.get("jsonSchema")
    if schema is None:
        return
    wrong = check_schema(schema) if isinstance(schema, dict) else "it must be an object"
    if wrong:
        raise Refused(f"jsonSchema is not a valid JSON Schema: {wrong}")
    session.structured = Structured(schema)
    tool = structured_output_tool(session.structured)
    session.parts.tools.add(Component(tool.name, tool, tool.origin))
    allowed = session.parts.allowed
    if allowed is not None:
        session.parts = msgspec.structs.replace(session.parts, allowed=allowed | {STRUCTURED_OUTPUT})
