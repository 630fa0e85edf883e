"""Components as hosts list them: commands, skills, plugins, output styles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent.local import ALIASES, local_names
from forge.agent.mcp.servers import status_rows
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.styles import style_names
from forge.core.components.kinds import Skill
from forge.core.components.listing import announced_skills, offered, present
from forge.core.registry import Component
from forge.foundation.errors import ForgeError
from forge.foundation.origin import Scope
from forge.hosts.agent_options import agent_rows
from forge.hosts.control_seat import Refused, Request, Seat

# What Forge answers itself, and what may follow it.
_OWN = {
    "agents": ("List the types of sub-agents", ""),
    "clear": ("Begin a new conversation; the one so far can be resumed", ""),
    "compact": ("Summarise the conversation to make room", "[what the summary must keep]"),
    "context": ("Show how full the context is", ""),
    "help": ("List what can be typed after a slash", ""),
    "init": ("Write instructions for this project into CLAUDE.md", ""),
    "memory": ("List the instructions in force", ""),
    "model": ("Show the model or use another one", "[model]"),
    "plugin": ("List, install and switch plugins", "[command]"),
    "reload-plugins": ("Read plugins, skills, commands and agents again", ""),
    "skills": ("List skills and commands", ""),
    "usage": ("Show what the session has cost", ""),
}


def command_rows(s: Session) -> list[dict[str, Any]]:
    """Everything users may type after a slash."""
    view = s.keep(Ecosystem).view
    found = [c for c in present(s.parts.catalog, view) if c.value.user_invocable]
    taken = {c.name for c in found}
    own = [_own_row(name) for name in local_names() if name not in taken and name not in ALIASES]
    return [*map(_row, found), *own]


def _row(c: Component[Skill]) -> dict[str, Any]:
    skill, scope = c.value, c.origin.scope
    words = f"({skill.plugin.name}) {skill.description}" if skill.plugin is not None else skill.description
    if scope in (Scope.USER, Scope.PROJECT):
        words += f" ({scope.value})"
    row: dict[str, Any] = {"name": c.name, "description": words, "argumentHint": skill.argument_hint}
    if scope is Scope.BUILTIN:
        row["builtin"] = True
    return row


def _own_row(name: str) -> dict[str, Any]:
    description, hint = _OWN.get(name, ("", ""))
    row: dict[str, Any] = {"name": name, "description": description, "argumentHint": hint}
    if others := [other for other, target in ALIASES.items() if target == name]:
        row["aliases"] = others
    return {**row, "builtin": True}


def style_rows(s: Session) -> list[str]:
    """The names of the output styles."""
    return style_names(s.parts.catalog)


def component_usage(s: Session, tokens: Callable[[int], int]) -> dict[str, Any]:
    """How much of the context the lists of agents, commands and skills take, by an estimate."""
    catalog, view = s.parts.catalog, s.keep(Ecosystem).view
    there, told = present(catalog, view), offered(catalog, view)
    rows = [
        {"name": c.name, "source": c.origin.plugin or c.origin.scope.value, "tokens": tokens(_length(c))}
        for c in told
        if not c.value.is_command
    ]
    commands = [c for c in told if c.value.is_command]
    own = [c for c in s.parts.agents if c.origin.scope is not Scope.BUILTIN]
    return {
        "agents": [
            {
                "agentType": c.name,
                "source": c.origin.plugin or c.origin.scope.value,
                "tokens": tokens(len(c.name) + len(c.value.description)),
            }
            for c in own
        ],
        "slashCommands": {
            "totalCommands": sum(c.value.is_command for c in there),
            "includedCommands": len(commands),
            "tokens": tokens(sum(map(_length, commands))),
        },
        "skills": {
            "totalSkills": sum(not c.value.is_command for c in there),
            "includedSkills": len(rows),
            "tokens": sum(row["tokens"] for row in rows),
            "skillFrontmatter": rows,
        },
    }


def _length(c: Component[Skill]) -> int:
    return len(c.name) + len(c.value.description) + len(c.value.when_to_use)


def reload_skills(seat: Seat, request: Request) -> dict[str, Any]:
    """The skills after a look at the disk."""
    s = _reloaded(seat)
    names = announced_skills(s.parts.catalog, s.keep(Ecosystem).view)
    return {"skills": [row for row in command_rows(s) if row["name"] in names]}


def reload_plugins(seat: Seat, request: Request) -> dict[str, Any]:
    """What plugins bring along after a look at the disk."""
    s = _reloaded(seat)
    eco = s.keep(Ecosystem)
    return {
        "commands": command_rows(s),
        "agents": agent_rows(s),
        "plugins": eco.plugins,
        "mcpServers": [row for row in status_rows(s) if row["source"] == "plugin"],
        "error_count": len(eco.errors),
    }


def reload_output_styles(seat: Seat, request: Request) -> dict[str, Any]:
    """The output styles after a look at the disk."""
    return {"available_output_styles": style_rows(_reloaded(seat))}


def _reloaded(seat: Seat) -> Session:
    session = seat.session
    reload, before = session.keep(Ecosystem).reload, command_rows(session)
    if reload is not None:
        try:
            reload()
        except ForgeError as error:
            raise Refused(f"Nothing was reloaded: {error}") from error
    if (now := command_rows(session)) != before:
        seat.after.append(lambda wire: wire.system("commands_changed", commands=now))
    return session
