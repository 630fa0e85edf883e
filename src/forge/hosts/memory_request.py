"""Where a run looks for memory files, from its options, settings and environment."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from forge.agent.memory import start_memory
from forge.agent.session import Session
from forge.core.memory.approval import imports_approved
from forge.core.memory.auto import auto_directory
from forge.core.memory.sources import ALL_SOURCES, MemoryRequest
from forge.foundation.origin import Scope
from forge.foundation.settings import parse_setting_sources
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions

AGENTS_PLUGIN = "cc-plugin-agents-md@builtin"
_YES = ("1", "true", "yes", "on")


async def give_memory(session: Session, o: RunOptions, c: Configuration) -> None:
    """Loads the memory files of a session and opens the directory of its notes for writing."""
    if o.bare:
        return
    request = memory_request(o, c)
    if request.auto_dir:
        # The model is told that it exists; where it cannot be made, writing will say so.
        with suppress(OSError):
            os.makedirs(request.auto_dir, mode=0o700, exist_ok=True)
        session.situation = session.situation.changed(free_write_dirs=[request.auto_dir.rstrip(os.sep)])
    await start_memory(session, request)


def memory_request(o: RunOptions, c: Configuration) -> MemoryRequest:
    """What to load; a bare run loads nothing."""
    p = c.places
    named = ALL_SOURCES if o.setting_sources is None else parse_setting_sources(o.setting_sources)
    managed = [x.data.get("claudeMd") for x in c.settings.layers if x.scope is Scope.MANAGED]
    off = o.bare or _is_on(c, "CLAUDE_CODE_DISABLE_CLAUDE_MDS")
    return MemoryRequest(
        cwd=p.cwd,
        home=p.home,
        user_dirs=p.user_dirs,
        managed_dirs=p.managed_dirs,
        sources=frozenset(named),
        excludes=c.settings.get("claudeMdExcludes", []),
        agents=_agents(c),
        managed_text=next((text for text in reversed(managed) if isinstance(text, str)), ""),
        added=c.directories if _is_on(c, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD") else [],
        auto_dir=notes_directory(o, c),
        worktree=p.git_root,
        repository=p.repository,
        external=lambda: imports_approved(p),
        files=not off,
    )


def notes_directory(o: RunOptions, c: Configuration) -> str:
    """The directory of auto memory; empty if this run has none."""
    return "" if o.bare else auto_directory(c.places, c.env, lambda key, default: _setting(c, key, default))


def _setting(c: Configuration, key: str, default: Any) -> Any:
    """A setting; where notes go may be written without asking, so a project cannot choose the place."""
    if key != "autoMemoryDirectory":
        return c.settings.get(key, default)
    own = [x.data[key] for x in c.settings.layers if key in x.data and x.scope is not Scope.PROJECT]
    return own[-1] if own else default


def _agents(c: Configuration) -> str:
    switch = c.settings.get(("enabledPlugins", AGENTS_PLUGIN), True)
    chosen = c.settings.get("agentsMd", "fallback")
    return "off" if switch is False else chosen if chosen in ("both", "off") else "fallback"


def _is_on(c: Configuration, name: str) -> bool:
    return c.env.get(name, "").lower() in _YES
