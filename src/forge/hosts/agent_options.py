"""`--agents` and `--agent`: definitions of sub-agents, and one of them as the main agent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from forge.agent.session import Reminder, Session
from forge.agent.team.agents import add_agents, agent_body, agent_names, find_main_agent, listing
from forge.agent.team.crew import Crew, Seat
from forge.core.components.agent_type import AgentType
from forge.core.registry import Registry
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.hosts.options import RunOptions, file_text

LISTING = "agent_listing_delta"


def comes_later(o: RunOptions, agents: Registry[AgentType]) -> bool:
    """Whether `--agent` names one that only the host can define, with its first request."""
    return bool(o.agent) and o.input_format == "stream-json" and find_main_agent(agents, str(o.agent)) is None


def as_agent(o: RunOptions, agents: Registry[AgentType], name: str) -> RunOptions:
    """The options of a run whose main agent is `name`; flags of the command line win."""
    kind = find_main_agent(agents, name)
    if kind is None:
        known = ", ".join(agent_names(agents))
        raise UsageError(f"Error: --agent '{name}' not found. Available agents: {known}")
    model = kind.model if kind.model != "inherit" else ""
    own = o.system_prompt is None and o.system_prompt_file is None
    tools = [entry.partition("(")[0].strip() for entry in kind.tools or ()]
    return msgspec.structs.replace(
        o,
        system_prompt=_body(kind) if own else o.system_prompt,
        model=o.model or model or None,
        tools=tools if tools and tools != ["*"] and o.tools is None else o.tools,
    )


def limit_main_agent(session: Session, name: str) -> None:
    """Takes from the conversation what its agent may not use, and the types it may not start."""
    kind = find_main_agent(session.parts.agents, name)
    if kind is None:
        return
    forbidden = {entry.partition("(")[0].strip() for entry in kind.disallowed_tools}
    if forbidden and session.parts.allowed is not None:
        session.keep(Crew).spare |= session.parts.allowed & forbidden
        allowed = session.parts.allowed - forbidden
        session.parts = msgspec.structs.replace(session.parts, allowed=allowed)
    if any("(" in entry for entry in kind.tools or ()):
        session.keep(Seat).types = import_module("forge.agent.team.child").startable(kind)


def _body(kind: AgentType) -> str:
    body = agent_body(kind)
    if "${" not in body:
        return body
    render = import_module("forge.core.components.render")
    return str(render.fill_variables(body, render.Surroundings(), kind.plugin))


def tell_agents(session: Session) -> None:
    """Puts the list of agent types in front of the next prompt, if the model may start any."""
    told = []
    if session.find_tool("Agent") is not None:
        told = [Reminder(LISTING, listing(session.parts.agents))]
    session.reminders = [*(r for r in session.reminders if r.kind != LISTING), *told]
    session.standing = [*(r for r in session.standing if r.kind != LISTING), *told]


def take_agents(session: Session, request: dict[str, Any]) -> None:
    """Takes over the agents and the wish for their texts from an `initialize` request."""
    if request.get("forwardSubagentText") is True:
        session.keep(Crew).forward_text = True
    raw = request.get("agents")
    if raw is not None:
        add_agents(session.parts.agents, raw, Scope.SESSION, "agents")
        tell_agents(session)


def agent_rows(session: Session) -> list[dict[str, str]]:
    """The types of agents as hosts list them."""
    agents = session.parts.agents
    kinds = [agents[name] for name in agent_names(agents)]
    return [
        {"name": k.name, "description": k.description, **({"model": k.model} if k.model else {})}
        for k in kinds
    ]


def agents_value(given: str) -> Any:
    """The value of `--agents`, which is JSON or the path of a JSON file."""
    text = given.strip()
    if not text.startswith(("{", "[")):
        text = file_text(given, "--agents")
    try:
        return msgspec.json.decode(text)
    except NOT_JSON as error:
        raise UsageError(f"Error: Invalid --agents configuration: not valid JSON: {error}") from None
