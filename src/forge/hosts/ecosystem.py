"""Gives a session its components: hooks of plugins, lists for hosts, and the way to load all of it again."""

from __future__ import annotations

from collections.abc import Callable

from forge.agent.hooks.engine import Engine
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.listed import tell_skills
from forge.agent.skills.styles import KIND as STYLE
from forge.agent.skills.styles import style_reminder
from forge.agent.team.agents import find_main_agent
from forge.hosts.agent_options import limit_main_agent
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.guarding import give_guard
from forge.hosts.hook_sources import plugin_hooks
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components
from forge.hosts.parts.tools import give_plugin_tools


def settle(
    session: Session, o: RunOptions, c: Configuration, components: Components, main_agent: str = ""
) -> None:
    """Connects a new session with the components that were loaded for it."""
    give_guard(session, o, c)
    eco = session.keep(Ecosystem)
    components.describe(eco, o, c)
    kind = find_main_agent(components.catalog.agents, main_agent) if main_agent else None
    eco.opening = kind.initial_prompt if kind is not None and not session.messages else ""
    if kind is not None:
        limit_main_agent(session, kind.name)
    hooks = _hooks(session, o, c)

    def reload() -> str:
        nonlocal hooks
        now = load_configuration(o, c.env, session.situation.start_dir)
        components.refresh(o, now)
        components.describe(eco, o, now)
        for remove in hooks:
            remove()
        hooks = _hooks(session, o, now)
        give_plugin_tools(session, o, now)
        eco.version += 1
        return summary(components, eco)

    eco.reload = reload
    give_plugin_tools(session, o, c)
    tell_style(session)
    tell_skills(session)


def use_style(session: Session, name: str) -> None:
    """Another output style from the next prompt on."""
    session.keep(Ecosystem).style = name
    told = style_reminder(session.parts.catalog, name)
    news = [told] if told is not None else []
    session.reminders = [*(r for r in session.reminders if r.kind != STYLE), *news]
    session.standing = [*(r for r in session.standing if r.kind != STYLE), *news]


def tell_style(session: Session) -> None:
    """Puts the text of the chosen output style in front of the first prompt."""
    told = style_reminder(session.parts.catalog, session.keep(Ecosystem).style)
    if told is not None and not session.messages:
        session.reminders.append(told)
    if told is not None:
        session.standing.append(told)


def summary(components: Components, eco: Ecosystem) -> str:
    """How many components of each kind there are now, and what is wrong with plugins."""
    catalog = components.catalog
    counted = [
        (len(eco.plugins), "plugin"),
        (len(catalog.skills), "skill or command"),
        (len(catalog.agents), "agent"),
        (len(catalog.hooks), "source of hooks"),
        (len(catalog.servers), "MCP server"),
        (len(eco.errors), "error"),
    ]
    told = ", ".join(f"{n} {_many(word) if n != 1 else word}" for n, word in counted)
    return "\n".join([f"Reloaded: {told}.", *(f"{e['plugin']}: {e['message']}" for e in eco.errors)])


def _many(word: str) -> str:
    return {"skill or command": "skills and commands", "source of hooks": "sources of hooks"}.get(
        word, f"{word}s"
    )


def _hooks(session: Session, o: RunOptions, c: Configuration) -> list[Callable[[], None]]:
    engine = session.hooks
    if not isinstance(engine, Engine):
        return []
    return plugin_hooks(engine, c, session.parts.catalog, bare=o.bare or o.safe_mode)
