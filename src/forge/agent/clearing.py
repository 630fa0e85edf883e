"""/clear: the conversation begins anew as another session; what was said stays in the old transcript."""

from __future__ import annotations

import os

import msgspec

from forge.agent.background import SCHEDULED, Background
from forge.agent.event import JobsChanged, Restarted
from forge.agent.hooks.lending import engine_of
from forge.agent.hooks.sites import give_title, tell_now
from forge.agent.hooks.state import HookState
from forge.agent.memory import renew_memory
from forge.agent.session import Session


async def clear(s: Session, argument: str) -> str:
    """Ends the session and starts one without history; jobs go on, and the new one hears of their end."""
    if (engine := engine_of(s)) is not None:
        await engine.fire("SessionEnd", reason="clear")
    fresh = s.parts.new_id()
    s.emit(Restarted(s.parts.new_id(), fresh, s.keep(HookState).prompt_id))
    s.emit(JobsChanged([job for job in s.keep(Background).running() if job.kind not in SCHEDULED]))
    _move(s, fresh)
    await _forget(s)
    outcome = await s.hooks.fire("SessionStart", source="clear")
    give_title(s, outcome.title)
    tell_now(s, outcome.told)
    return ""


def _move(s: Session, fresh: str) -> None:
    """Everything that is kept under the session's name gets the new one."""
    parts = s.parts
    results = os.path.join(os.path.dirname(os.path.dirname(parts.results_dir)), fresh, "tool-results")
    options = msgspec.structs.replace(parts.options, session_id=fresh if parts.options.session_id else "")
    s.parts = msgspec.structs.replace(parts, id=fresh, results_dir=results, options=options)
    s.id = fresh
    s.situation = s.situation.changed(free_read_dirs=[*s.situation.free_read_dirs, results])
    s.recorder.begin_anew(fresh)
    if s.checkpoints is not None:
        s.checkpoints.begin_anew(os.path.join(os.path.dirname(s.checkpoints.folder), fresh))


async def _forget(s: Session) -> None:
    s.messages, s.seen = [], {}
    s.context_tokens = s.compactions_in_a_row = 0
    s.ledger.begin_anew()
    s.turn.spent_before = {}
    for kept in s.kept_objects():
        forget = getattr(kept, "begin_anew", None)
        if callable(forget):
            forget()
    await renew_memory(s)
    s.reminders = list(s.standing)
