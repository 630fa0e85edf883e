"""Tells a session how its commands are guarded, from the settings of the run."""

from __future__ import annotations

import os
from importlib import import_module

from forge.agent.guard.secret import ask_secret
from forge.agent.session import Session
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import FULL, OFF, Setup, Source, chosen_mode, keeps_history
from forge.foundation.errors import ConfigError
from forge.foundation.origin import Scope
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions

_POLICY = ("rules", "riskThresholds", "workspace")


def guard_setup(o: RunOptions, c: Configuration) -> Setup:
    """How the commands of a run are guarded; ConfigError if a settings file has rules that cannot be used."""
    sources = _sources(c)
    mode = chosen_mode(sources)
    if mode != OFF and any(key in source.data for source in sources for key in _POLICY):
        # A rule that cannot be read must be known before the first command, not after it.
        import_module("forge.core.shell.guard.judging").Judging(sources)
    recorded = mode != OFF and keeps_history(sources) and not o.no_session_persistence
    home = os.path.join(c.places.forge_home, "forgecmd")
    return Setup(
        mode=mode,
        sources=sources,
        history=os.path.join(home, "history.db") if recorded else "",
        trash="" if mode == OFF else os.path.join(home, "trash"),
    )


def has_guarded_tools(o: RunOptions, c: Configuration) -> bool:
    """Whether a run has the tools of the guarded shell: in full mode, and where they are named."""
    named = any("forgecmd" in value for value in o.tools or ())
    return named or chosen_mode(_sources(c)) == FULL


def _sources(c: Configuration) -> tuple[Source, ...]:
    found = []
    for layer in c.settings.layers:
        data = layer.data.get("forgecmd")
        if data is None:
            continue
        if not isinstance(data, dict):
            raise ConfigError("forgecmd: expected an object", path=layer.path)
        found.append(Source(layer.path, data, trusted=c.trusted or layer.scope is not Scope.PROJECT))
    return tuple(found)


def give_guard(session: Session, o: RunOptions, c: Configuration) -> None:
    """Makes the guard of the run that of the session."""
    guard = Guard(guard_setup(o, c))
    guard.ask_secret = lambda line: ask_secret(session, line)
    session.share(guard)


def change_guard(session: Session, o: RunOptions, c: Configuration) -> None:
    """Takes over changed settings; those that cannot be used change nothing and are told."""
    try:
        session.keep(Guard).follow(guard_setup(o, c))
    except ConfigError as error:
        session.warn(f"The changed rules for commands cannot be used: {error}")


def tidy_up(home: str) -> None:
    """Removes what the history of commands and the copies of deleted files have kept too long."""
    state = os.path.join(home, "forgecmd")
    path = os.path.join(state, "history.db")
    if os.path.exists(path):
        history = import_module("forge.core.shell.history.record").History(path)
        history.prune()
        history.close()
    if os.path.isdir(os.path.join(state, "trash")):
        import_module("forge.core.shell.trash").Trash(os.path.join(state, "trash")).prune()
