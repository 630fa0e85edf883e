"""Hooks that a sub-agent or a skill brings along, for as long as it is at work."""

from __future__ import annotations

from collections.abc import Callable

from forge.agent.hooks.engine import Engine
from forge.agent.hooks.state import HookState
from forge.agent.session import Session
from forge.agent.team.agents import find_main_agent
from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import HookSource, Skill
from forge.foundation.origin import BUILTIN, Origin, Scope


def lend_hooks(s: Session, agent_id: str, kind: AgentType) -> Callable[[], None]:
    """Adds the hooks of an agent's definition until the returned function is called.

    Those of a project's files count only where the user trusts the project.
    """
    engine = engine_of(s)
    found = s.parts.agents.find(kind.name)
    origin = found[0].origin if found else BUILTIN
    if engine is None or not kind.hooks or (origin.scope is Scope.PROJECT and not engine.means.trusted):
        return _nothing
    return engine.add(HookSource(origin, kind.hooks, kind.plugin), agent_id)


def skill_hooks(s: Session, skill: Skill, origin: Origin) -> Callable[[], None]:
    """Adds the hooks of a skill that is used from now on."""
    engine = engine_of(s)
    if engine is None or not skill.hooks:
        return _nothing
    return engine.add(HookSource(origin, skill.hooks, skill.plugin, skill.root))


def bind_hooks(s: Session, main_agent: str = "") -> None:
    """Makes `s` the session its hooks speak of; `main_agent` is the kind of agent it is itself."""
    engine = engine_of(s)
    if engine is not None:
        engine.session = s
    s.keep(HookState).agent_type = main_agent
    kind = find_main_agent(s.parts.agents, main_agent) if main_agent else None
    if kind is not None:
        lend_hooks(s, "", kind)


def engine_of(s: Session) -> Engine | None:
    """The engine behind the hooks of a session, if it has one."""
    hooks = getattr(s.hooks, "outer", s.hooks)
    return hooks if isinstance(hooks, Engine) else None


def _nothing() -> None:
    """Nothing was added."""
