"""What happens around the turns of a session: hooks for its set-up, its start and its end."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.event import ScreenStale
from forge.agent.guard.guarding import end_guard
from forge.agent.hooks.lending import engine_of
from forge.agent.hooks.port import GONE, Told
from forge.agent.hooks.sites import DEFERRED_TOOL, give_title, tell_now
from forge.agent.lookout import look_out, stop_looking
from forge.agent.mcp.servers import await_servers, end_servers
from forge.agent.plugins.diagnostics import end_languages
from forge.agent.resume import Past
from forge.agent.session import Session
from forge.core.message import Aside, ToolUse
from forge.foundation.encode import NOT_JSON
from forge.foundation.history.transcript import read_lines
from forge.hosts.options import RunOptions

CACHE_SECONDS = 300
# How many entries of a transcript can follow a call that was put off.
_LAST = 8
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class _Reply(msgspec.Struct):
    usage: dict[str, Any] | None = None


class _Said(msgspec.Struct):
    """What matters here of a line of a transcript."""

    type: str = ""
    message: _Reply = msgspec.field(default_factory=_Reply)


async def set_up(session: Session, o: RunOptions) -> None:
    """Setup: `--init`, `--init-only` or `--maintenance` was given; nothing it says stops the start."""
    session.recorder.cwd = session.situation.cwd
    if o.init or o.init_only:
        await session.hooks.fire("Setup", trigger="init")
    if o.maintenance:
        await session.hooks.fire("Setup", trigger="maintenance")


async def begin(session: Session, past: Past | None, *, forked: bool) -> str:
    """SessionStart: what hooks add to the conversation; returns the first prompt if one has one."""
    session.recorder.cwd = session.situation.cwd
    engine = engine_of(session)
    if engine is not None and engine.means.switched_off:
        session.emit(ScreenStale())
    facts: dict[str, Any] = {"source": "startup"}
    if past is not None:
        facts = {"source": "fork"} if forked else {"source": "resume", **_interval(session, past)}
    outcome = await session.hooks.fire("SessionStart", **facts)
    give_title(session, outcome.title)
    tell_now(session, [t for t in outcome.told if not _known(session, t)])
    look_out(session, outcome.watch)
    await await_servers(session)
    return outcome.first_prompt


async def finish(session: Session, reason: str = "other") -> None:
    """SessionEnd, and the end of all hooks and servers that still run beside the conversation."""
    await stop_looking(session)
    await end_languages(session)
    engine = engine_of(session)
    if engine is not None:
        outcome = await engine.fire("SessionEnd", reason=reason)
        for label, why in outcome.failures:
            if why != GONE:  # a host that has ended the session need not hear of that
                session.warn(f"SessionEnd hook [{label}] failed: {why}")
        await engine.close()
    await end_servers(session)
    await end_guard(session)


def put_off_calls(past: Past | None, session: Session) -> list[ToolUse]:
    """The calls at the end of an earlier session that a hook had put off; the history ends before them."""
    if past is None or not _ends_in_calls(past):
        return []
    for at in range(len(session.messages) - 1, -1, -1):
        calls = session.messages[at].calls
        if session.messages[at].role == "assistant" and calls:
            session.messages = session.messages[: at + 1]
            return calls
    return []


def deferred_calls(past: Past | None, session: Session) -> list[ToolUse]:
    """The calls a hook has put off at the very end of the session a host goes on with."""
    links = past.line[-_LAST:] if past is not None else []
    tail = b"".join(read_lines(past.path, ((e.at, e.size) for e in links))) if past is not None else b""
    marked = tail.rpartition(DEFERRED_TOOL.encode())
    if not marked[1] or b'"tool_result"' in marked[2]:
        return []
    return put_off_calls(past, session)


def _ends_in_calls(past: Past) -> bool:
    last = b""
    for record in past.records:
        if bytes(record.get("type", b"")) in (b'"user"', b'"assistant"'):
            last = bytes(record.get("message", b"")) if bytes(record["type"]) == b'"assistant"' else b""
    return b'"tool_use"' in last


def _interval(session: Session, past: Past) -> dict[str, Any]:
    """How long ago the conversation was, and what going on with it may cost."""
    try:
        seconds = max(0, round(session.parts.clock() - os.path.getmtime(past.path)))
    except OSError:
        seconds = 0
    price = session.model.card.price
    tokens = _last_tokens(past)
    cost = round(tokens * price.cache_write / 1_000_000, 4) if price is not None else 0
    return {
        "seconds_since_last_response": seconds,
        "context_tokens": tokens,
        "prompt_cache_likely_expired": seconds >= CACHE_SECONDS,
        "estimated_cache_write_usd": cost,
    }


def _last_tokens(past: Past) -> int:
    """How large the conversation was when the model last replied."""
    for link in reversed(past.line):
        for line in read_lines(past.path, [(link.at, link.size)]):
            try:
                said = msgspec.json.decode(line, type=_Said)
            except NOT_JSON:
                continue
            if said.type == "assistant":
                usage = said.message.usage or {}
                return sum(count for name in _COUNTED if isinstance(count := usage.get(name), int))
    return 0


def _known(session: Session, told: Told) -> bool:
    """Whether the conversation has this text already, perhaps from an earlier start."""
    words = told.text.partition(": ")[2]
    texts = (b.text for m in session.messages for b in m.blocks if isinstance(b, Aside))
    return any(t.startswith("SessionStart") and t.partition(": ")[2] == words for t in texts)
