"""Wishes of a host about what the model may use: skills, names of tools, the way plans are made."""

from __future__ import annotations

import msgspec

from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.listed import tell_skills
from forge.core.plan import Plan
from forge.hosts.control_seat import Request


def take_wishes(session: Session, request: Request) -> None:
    """Takes over which skills the model hears of, other names for tools, and the words of plan mode."""
    eco = session.keep(Ecosystem)
    skills, aliases = request.get("skills"), request.get("toolAliases")
    if isinstance(skills, list):
        eco.view = msgspec.structs.replace(eco.view, chosen=frozenset(map(str, skills)))
        tell_skills(session)
    if isinstance(aliases, dict):
        eco.tool_names = {name: target for name, target in aliases.items() if isinstance(target, str)}
    instructions = request.get("planModeInstructions")
    if isinstance(instructions, str):
        session.keep(Plan).instructions = instructions.strip()
