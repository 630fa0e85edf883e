"""`/skills`, `/agents`, `/reload-plugins` and `/help`: what a session has, without asking the model."""

from __future__ import annotations

from forge.agent.local import local_names
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.team.agents import agent_names
from forge.core.components.listing import present
from forge.foundation.errors import ForgeError

_WIDTH = 72


async def list_skills(s: Session, argument: str) -> str:
    """Skills and commands with where they come from; those the model does not see are marked."""
    view = s.keep(Ecosystem).view
    lines = []
    for c in present(s.parts.catalog, view):
        skill = c.value
        kind = "command" if skill.is_command else "skill"
        marks = [] if skill.model_invocable else ["only typed"]
        marks += [] if skill.user_invocable else ["only by the model"]
        notes = ", ".join([f"{kind}, {c.origin.plugin or c.origin.scope.value}", *marks])
        lines.append(f"/{c.name} ({notes}): {_short(skill.description)}")
    return "\n".join(lines) or "There are no skills or commands here. `forge skill new NAME` makes one."


async def list_agents(s: Session, argument: str) -> str:
    """The kinds of agents with where they come from."""
    agents = s.parts.agents
    rows = [agents.find(name)[0] for name in agent_names(agents)]
    return "\n".join(
        f"{c.name} ({c.origin.plugin or c.origin.scope.value}): {_short(c.value.description)}" for c in rows
    )


async def reload_components(s: Session, argument: str) -> str:
    """Looks at the disk again; the next request sees what has changed."""
    reload = s.keep(Ecosystem).reload
    if reload is None:
        return "This session cannot load its components again."
    try:
        return reload()
    except ForgeError as error:
        return f"Nothing was reloaded: {error}"


async def say_help(s: Session, argument: str) -> str:
    """What can be typed after a slash."""
    own = ", ".join(f"/{name}" for name in local_names())
    return f"Answered by Forge itself: {own}\n\n{await list_skills(s, '')}"


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
