"""Compaction: the model's own summary replaces the history before or when it outgrows the window."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec

from forge.agent.compact_history import estimate, newer_half, slimmed
from forge.agent.compact_standing import standing
from forge.agent.event import Compacted, Compacting, CompactionSkipped
from forge.agent.hooks.compaction import after_summary, before_compaction
from forge.agent.hooks.sites import tell_now
from forge.agent.ledger import charge_aside
from forge.agent.memory import renew_memory
from forge.agent.reply import request
from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.core.message import Block, Message, Text
from forge.core.model import Finished, closing
from forge.foundation.errors import ModelError

BUFFER = 33_000
SMALLEST, LARGEST = 100_000, 1_000_000
MAX_HALVINGS = 6
MAX_IN_A_ROW = 3
# So many replies below the limit, and the conversation is not filling up again at once.
CALM = 3
_TOO_MUCH = ("context_overflow", "request_too_large")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_ANALYSIS = re.compile(r"<analysis>.*?</analysis>", re.DOTALL)


class Tally:
    """Replies since the last compaction, attempts in a row that failed, and the tokens dropped so far."""

    def __init__(self) -> None:
        self.replies = 0
        self.failures = 0
        self.dropped = 0


def due(s: Session) -> bool:
    """Whether the last answer left too little room for the next request."""
    if s.parts.env.get("DISABLE_AUTO_COMPACT") == "1" or s.parts.setting("autoCompactEnabled", True) is False:
        return False
    # Where summaries fail, what room is left is used up before the API says that it is.
    if s.keep(Tally).failures >= MAX_IN_A_ROW:
        return False
    return s.context_tokens > threshold(s) and possible(s)


def threshold(s: Session) -> int:
    """Tokens above which the history is compacted before the next request."""
    wanted, window = _wanted(s), s.model.card.context_window
    room = min(window, wanted) if wanted else window
    limit = room - (BUFFER if room >= SMALLEST else room // 6)
    share = s.parts.env.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    if wanted and share.isdecimal() and 0 < int(share) <= 100:
        return min(limit, room * int(share) // 100)
    return limit


def _wanted(s: Session) -> int:
    """The window the user wants to use: the flag, the variable, the setting of the model, the setting."""
    if s.parts.limits.window is not None:
        return s.parts.limits.window
    variable = s.parts.env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    if variable.isdecimal():
        return min(max(int(variable), SMALLEST), LARGEST)
    models = s.parts.setting("modelSettings", {})
    own = models.get(s.model.card.id, {}) if isinstance(models, dict) else {}
    found = own.get("autoCompactWindow") if isinstance(own, dict) else None
    found = found if isinstance(found, int) else s.parts.setting("autoCompactWindow", None)
    return found if isinstance(found, int) else 0


def settled(s: Session) -> None:
    """Takes note of a reply: only some that fit in a row show that a compaction has helped."""
    tally = s.keep(Tally)
    tally.replies += 1
    if s.context_tokens <= threshold(s) and tally.replies > CALM:
        s.compactions_in_a_row = 0


def too_much(error: ModelError) -> bool:
    """Whether a request was refused for its size."""
    return error.kind in _TOO_MUCH


def possible(s: Session) -> bool:
    """A conversation of a single exchange has nothing to leave out."""
    return any(m.role == "assistant" for m in s.messages)


async def compact(s: Session, trigger: str, instructions: str = "") -> None:
    """Replaces the history by a summary; raises ModelError when that does not help."""
    tally = s.keep(Tally)
    s.compactions_in_a_row += 1
    if s.compactions_in_a_row > MAX_IN_A_ROW:
        raise ModelError(
            "Autocompact is thrashing: the context refilled to the limit within 3 turns of the previous"
            f" compact, {MAX_IN_A_ROW} times in a row. A file or the output of a tool is probably too large"
            " for the context window: read it in smaller parts, or start anew with /clear.",
            kind="rapid_refill",
        )
    started = s.parts.clock()
    s.emit(Compacting(trigger))
    added = await before_compaction(s, trigger, instructions)
    wishes = "\n\n".join([instructions, *added]).strip()
    try:
        summary, omitted, raw = await _summarise(s, wishes)
    except (ModelError, asyncio.CancelledError) as error:
        tally.failures += isinstance(error, ModelError)
        s.emit(CompactionSkipped(_why(error, trigger), failed=True))
        raise
    tally.failures = tally.replies = 0
    told = await after_summary(s, raw)
    took = (s.parts.clock() - started) * 1000
    await renew_memory(s)
    _replace(s, summary, trigger, omitted=omitted, took_ms=took)
    tell_now(s, told)
    await s.hooks.fire("PostCompact", trigger=trigger, compact_summary=raw)


def _why(error: ModelError | asyncio.CancelledError, trigger: str) -> str:
    if not isinstance(error, ModelError):
        return "API Error: Request was aborted."
    return f"Error during compaction: {error.message}" if trigger == "manual" else error.message


async def _summarise(s: Session, wishes: str) -> tuple[str, bool, str]:
    """The summary, whether something had to be left out of it, and all the model said."""
    history = list(s.messages)
    for attempt in range(MAX_HALVINGS):
        try:
            finished = await _ask(s, history, wishes)
        except ModelError as error:
            shorter = _shorter(history)
            if not too_much(error) or shorter is None:
                raise
            history = shorter
            continue
        charge_aside(s.ledger, s.recorder, s.model.card, finished.usage, finished.cost_usd)
        words = finished.message.text
        found = _SUMMARY.search(words)
        summary = (found[1] if found else _ANALYSIS.sub("", words)).strip()
        if not summary:
            empty = "summarization produced empty response"
            none = "no assistant message in summarization response"
            raise ModelError(empty if finished.message.blocks else none)
        return summary[: 2 * s.model.card.context_window], attempt > 0, words
    raise ModelError("Even a part of the conversation is too long to summarise.", kind="context_overflow")


def _shorter(history: list[Message]) -> list[Message] | None:
    """Long texts and pictures go first, then the older half; None if nothing is left to leave out."""
    slim = slimmed(history)
    if slim is not history:
        return slim
    return newer_half(history) if len(history) > 2 else None


async def _ask(s: Session, history: list[Message], wishes: str) -> Finished:
    asking = text("compact_request")
    if wishes:
        asking = f"{asking}\n\n\nAdditional Instructions:\n{wishes}"
    if history[-1].role == "user":
        messages = [*history[:-1], Message("user", [*history[-1].blocks, Text(asking)])]
    else:
        messages = [*history, Message("user", [Text(asking)])]
    asked = msgspec.structs.replace(request(s), messages=messages)
    # The prefix of a turn is in the cache of the API, where a tool choice would be a change.
    if asked.tools and s.model.card.provider != "anthropic":
        asked = msgspec.structs.replace(
            asked, options=msgspec.structs.replace(asked.options, tool_choice="none")
        )
    finished: Finished | None = None
    async with closing(s.model.stream(asked)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Finished):
                finished = delta
    if finished is None:
        raise ModelError("API Error: the summary ended too early.", kind="malformed_stream")
    return finished


def _replace(s: Session, summary: str, trigger: str, *, omitted: bool, took_ms: float) -> None:
    before = s.context_tokens or estimate(s.messages)
    transcript = s.recorder.transcript.path if s.recorder.transcript is not None else "(not kept)"
    words = text("compact_summary").format(
        summary=summary, transcript=transcript, omitted=text("compact_omitted") if omitted else ""
    )
    words += standing(s, min(20_000, max(500, s.model.card.context_window // 2)))
    kept = s.messages[-1:] if trigger == "manual" and s.messages[-1].role == "assistant" else []
    # Under its old id a reader would take the entry for a part of the one before the boundary.
    kept = [msgspec.structs.replace(m, id=s.parts.new_id()) for m in kept if not m.calls]
    blocks: list[Block] = [*(Text(r.text) for r in s.standing), Text(words)]
    s.messages = [Message("user", blocks), *kept]
    s.context_tokens = estimate(s.messages)
    tally = s.keep(Tally)
    tally.dropped += max(0, before - s.context_tokens)
    facts: dict[str, Any] = {
        "trigger": trigger,
        "preTokens": before,
        "postTokens": s.context_tokens,
        "durationMs": round(took_ms),
        "cumulativeDroppedTokens": tally.dropped,
    }
    boundary, uuid = s.parts.new_id(), s.parts.new_id()
    logical = s.recorder.boundary(boundary, facts)
    s.recorder.prompt(uuid, [Text(words)], isCompactSummary=True)
    for r in s.standing:
        s.recorder.reminder(r.kind, r.text, r.facts)
    for message in kept:
        envelope = {"id": message.id, "type": "message", "role": "assistant", "model": s.model.card.id}
        s.recorder.reply(envelope, [(s.parts.new_id(), b) for b in message.blocks], madeBy=message.made_by)
    s.turn.user_events += trigger == "auto"
    s.emit(Compacted(boundary, uuid, words, facts, logical))
