"""The composition root: the only place that wires settings, tools, model, permissions and transcript."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from importlib import import_module

import msgspec

from forge.agent.event import Warned
from forge.agent.hooks.engine import Engine
from forge.agent.hooks.lending import bind_hooks
from forge.agent.host import Host
from forge.agent.known_files import unchanged
from forge.agent.prompt import start_reminders
from forge.agent.record import Recorder, Stamp
from forge.agent.resume import Past
from forge.agent.session import Limits, Parts, Reminder, Session, Structured
from forge.agent.team.crew import Crew
from forge.agent.toolset import equip
from forge.core.components.catalog import Catalog
from forge.core.models.catalog import Choice, resolve
from forge.core.plan import Plan
from forge.foundation.errors import UsageError
from forge.foundation.gitdir import current_branch
from forge.foundation.history.transcript import Transcript
from forge.foundation.ids import new_uuid
from forge.foundation.paths import results_dir, session_file
from forge.hosts.agent_options import as_agent, comes_later, tell_agents
from forge.hosts.checkpointing import keep_checkpoints
from forge.hosts.cli.parse import window
from forge.hosts.configuration import Configuration, situation
from forge.hosts.ecosystem import settle
from forge.hosts.hook_sources import plugin_hooks, session_hooks
from forge.hosts.mcp.servers import give_servers
from forge.hosts.memory_request import give_memory
from forge.hosts.model_choice import model_options, open_choice
from forge.hosts.offer import all_tools, circumstances, offered
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components
from forge.hosts.remember import persist_updates
from forge.hosts.schema_option import read_schema
from forge.hosts.surroundings import look_around
from forge.hosts.system_text import own_system_prompt, system_text
from forge.version import COMPATIBLE_WITH


class Built(msgspec.Struct, frozen=True):
    """A session ready to run and what the host reports about it."""

    session: Session
    choice: Choice


async def build_session(o: RunOptions, c: Configuration, host: Host, past: Past | None) -> Built:
    """Makes the session of a run; git is asked while the rest is put together."""
    components = Components(o, c)
    asked = o
    main_agent = o.agent or c.settings.get("agent", "") or components.agent
    if main_agent and not comes_later(o, components.catalog.agents):
        o = as_agent(o, components.catalog.agents, main_agent)
    looking = asyncio.ensure_future(look_around(c))
    try:
        choice = resolve(o.model, c.env, c.settings.get)
        session = Session(_parts(o, c, host, (choice, past, components.catalog)))
        bind_hooks(session, main_agent)
        crew = session.keep(Crew)
        crew.forward_text, crew.appended = o.forward_subagent_text, o.append_subagent_system_prompt
        if asked.tools != o.tools:
            names = [t.name for t in session.parts.tools]
            crew.spare = offered(asked, c, choice.card, names) - (session.parts.allowed or frozenset())
        keep_checkpoints(session, c, past if not o.fork_session else None)
        if past is not None:
            _go_on(session, past, forked=o.fork_session)
        elif not o.bare:
            custom, where = own_system_prompt(o) is not None, await looking
            session.reminders = start_reminders(where, choice.card, time.time(), custom=custom)
            session.standing = list(session.reminders)
    finally:
        looking.cancel()
    await give_memory(session, o, c)
    if past is None or o.agents is not None:
        tell_agents(session)
    settle(session, o, c, components, main_agent)
    equip(session)
    give_servers(session, o, c)
    if o.name:
        session.recorder.side("custom-title", customTitle=o.name)
        session.recorder.side("agent-name", agentName=o.name)
    return Built(session, choice)


def outline_session(o: RunOptions, c: Configuration, host: Host) -> Session:
    """A session that only runs hooks: no instructions are read, and no turn is taken in it."""
    components = Components(o, c)
    choice = resolve(o.model, c.env, c.settings.get)
    session = Session(_parts(o, c, host, (choice, None, components.catalog)))
    bind_hooks(session)
    if isinstance(session.hooks, Engine):
        plugin_hooks(session.hooks, c, components.catalog, bare=o.bare or o.safe_mode)
    return session


def _parts(o: RunOptions, c: Configuration, host: Host, start: tuple[Choice, Past | None, Catalog]) -> Parts:
    choice, past, catalog = start
    session_id, path = _identity(o, c, past)
    warn = _warner(host)
    structured = Structured(schema) if (schema := read_schema(o.json_schema)) is not None else None
    tools = all_tools(structured, circumstances(o, c, choice.card))
    transcript = None if o.no_session_persistence else Transcript(path)
    entrypoint = c.env.get("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
    stamp = Stamp(session_id, COMPATIBLE_WITH, entrypoint, current_branch(c.places.git_root) or "HEAD")
    return Parts(
        id=session_id,
        host=host,
        model=open_choice(o, c, o.model),
        tools=tools,
        hooks=session_hooks(
            c,
            bare=o.bare,
            safe=o.safe_mode,
            alone=o.input_format != "stream-json",
            asks=bool(o.permission_prompt_tool),
        ),
        situation=situation(
            c, session_id, deny_instead=o.permission_prompts == "none", auto=choice.card.auto_mode
        ),
        recorder=Recorder(transcript, stamp, clock=time.time, new_id=new_uuid, warn=warn),
        system=system_text(o, c, catalog),
        reminders=[],
        options=model_options(o, c, choice.card, session_id),
        limits=_limits(o),
        env=c.env,
        setting=c.settings.get,
        results_dir=results_dir(c.places, session_id, c.places.cwd),
        clock=time.time,
        new_id=new_uuid,
        persist=persist_updates(c.places, warn),
        structured=structured,
        allowed=offered(o, c, choice.card, [t.name for t in tools]),
        agents=catalog.agents,
        catalog=catalog,
        open_model=lambda name: open_choice(o, c, name),
    )


def _identity(o: RunOptions, c: Configuration, past: Past | None) -> tuple[str, str]:
    """Session id and transcript: a resumed session goes on in its own file."""
    if past is not None and not o.fork_session:
        return past.session_id, past.path
    session_id = o.session_id or new_uuid()
    path = session_file(c.places, session_id, c.places.cwd)
    if o.session_id and os.path.exists(path):
        raise UsageError(f"Error: Session ID {session_id} is already in use.")
    return session_id, path


def _limits(o: RunOptions) -> Limits:
    turns = None if o.max_turns is None else int(o.max_turns)
    return Limits(turns, o.max_budget_usd, o.max_seconds, window(o.autocompact or ""))


def _go_on(session: Session, past: Past, *, forked: bool) -> None:
    session.messages = past.messages
    session.seen = unchanged(past.files)
    session.keep(Plan).known = past.planning
    session.reminders += [Reminder("lost_work", words) for words in past.lost]
    session.ledger.restore(past.cost_state)
    if forked:
        session.recorder.replay(past.records)
    session.recorder.leaf = past.leaf
    if session.find_tool("TodoWrite") is not None:
        session.keep(import_module("forge.core.tools.todowrite").TodoList).recall(past.messages)


def _warner(host: Host) -> Callable[[str], None]:
    return lambda text: host.emit(Warned(text))
