"""Components as hosts list them: commands, skills, plugins, output styles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent.local import local_names
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


def command_rows(s: Session) -> list[dict[str, Any]]:
    """Everything users may type after a slash."""
    view = s.keep(Ecosystem).view
    found = [c for c in present(s.parts.catalog, view) if c.value.user_invocable]
    rows: list[dict[str, Any]] = [
        {"name": c.name, "description": c.value.description, "argumentHint": c.value.argument_hint}
        for c in found
    ]
    taken = {c.name for c in found}
    own = [name for name in local_names() if name not in taken]
    return [*rows, *({"name": n, "description": "", "argumentHint": "", "builtin": True} for n in own)]


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
    return {"skills": announced_skills(s.parts.catalog, s.keep(Ecosystem).view)}


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
    reload = seat.session.keep(Ecosystem).reload
    if reload is not None:
        try:
            reload()
        except ForgeError as error:
            raise Refused(f"Nothing was reloaded: {error}") from error
    return seat.session
