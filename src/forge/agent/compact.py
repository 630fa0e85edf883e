"""Compaction: the model's own summary replaces the history before or when it outgrows the window."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec

from forge.agent.event import Compacted, Compacting, CompactionSkipped
from forge.agent.hooks.compaction import after_summary, before_compaction
from forge.agent.hooks.sites import tell_now
from forge.agent.ledger import charge_aside
from forge.agent.memory import renew_memory
from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.core.message import Block, Message, Text, ToolResult
from forge.core.model import Finished, Request, ToolSpec, closing
from forge.core.reminder import is_reminder
from forge.foundation.errors import ModelError

BUFFER = 33_000
MAX_HALVINGS = 6
MAX_IN_A_ROW = 3
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_ANALYSIS = re.compile(r"<analysis>.*?</analysis>", re.DOTALL)


def due(s: Session) -> bool:
    """Whether the last answer left too little room for the next request."""
    if s.parts.env.get("DISABLE_AUTO_COMPACT") == "1" or s.parts.setting("autoCompactEnabled", True) is False:
        return False
    return s.context_tokens > threshold(s) and possible(s)


def threshold(s: Session) -> int:
    """Tokens above which the history is compacted before the next request."""
    configured = s.parts.env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    setting = s.parts.setting("autoCompactWindow", None)
    window = s.model.card.context_window
    if configured.isdecimal():
        window = min(window, int(configured))
    elif isinstance(setting, int):
        window = min(window, setting)
    return window - min(BUFFER, window // 6)


def possible(s: Session) -> bool:
    """A conversation of a single exchange has nothing to leave out."""
    return any(m.role == "assistant" for m in s.messages)


async def compact(s: Session, trigger: str, instructions: str = "") -> None:
    """Replaces the history by a summary; raises ModelError when that does not help."""
    s.compactions_in_a_row += 1
    if s.compactions_in_a_row > MAX_IN_A_ROW:
        raise ModelError(
            "The conversation fills the context window again right after each compaction; stopped.",
            kind="context_overflow",
            hint="Start a new session, or leave out large files and tools.",
        )
    started = s.parts.clock()
    s.emit(Compacting(trigger))
    added = await before_compaction(s, trigger, instructions)
    wishes = "\n\n".join([instructions, *added]).strip()
    try:
        summary, omitted, raw = await _summarise(s, wishes)
    except (ModelError, asyncio.CancelledError) as error:
        why = error.message if isinstance(error, ModelError) else "API Error: Request was aborted."
        s.emit(CompactionSkipped(why, failed=True))
        raise
    told = await after_summary(s, raw)
    took = (s.parts.clock() - started) * 1000
    await renew_memory(s)
    _replace(s, summary, trigger, omitted=omitted, took_ms=took)
    tell_now(s, told)
    await s.hooks.fire("PostCompact", trigger=trigger, compact_summary=raw)


async def _summarise(s: Session, wishes: str) -> tuple[str, bool, str]:
    """The summary, whether older messages had to be left out of it, and all the model said."""
    history = list(s.messages)
    for halving in range(MAX_HALVINGS):
        try:
            finished = await _ask(s, history, wishes)
        except ModelError as error:
            if error.kind != "context_overflow" or len(history) < 3:
                raise
            history = _newer_half(history)
            continue
        charge_aside(s.ledger, s.recorder, s.model.card, finished.usage)
        words = finished.message.text
        found = _SUMMARY.search(words)
        summary = (found[1] if found else _ANALYSIS.sub("", words)).strip()
        if not summary:
            raise ModelError(
                "The model gave no summary; the conversation is unchanged.", kind="context_overflow"
            )
        return summary, halving > 0, words
    raise ModelError("Even a part of the conversation is too long to summarise.", kind="context_overflow")


async def _ask(s: Session, history: list[Message], wishes: str) -> Finished:
    asking = text("compact_request")
    if wishes:
        asking = f"{asking}\n\n\nAdditional Instructions:\n{wishes}"
    if history[-1].role == "user":
        messages = [*history[:-1], Message("user", [*history[-1].blocks, Text(asking)])]
    else:
        messages = [*history, Message("user", [Text(asking)])]
    specs = [ToolSpec(t.name, t.description, t.schema) for t in s.tools()]
    options = msgspec.structs.replace(s.parts.options, tool_choice="none" if specs else "")
    request = Request(s.model.card.id, s.system, messages, specs, options)
    finished: Finished | None = None
    async with closing(s.model.stream(request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Finished):
                finished = delta
    if finished is None:
        raise ModelError("API Error: the summary ended too early.", kind="malformed_stream")
    return finished


def _newer_half(history: list[Message]) -> list[Message]:
    """The second half of a history, beginning with a user message whose calls are still there."""
    half = history[len(history) // 2 :]
    while half and (half[0].role != "user" or any(isinstance(b, ToolResult) for b in half[0].blocks)):
        if half[0].role == "user":
            kept: list[Block] = [b for b in half[0].blocks if not isinstance(b, ToolResult)]
            return [Message("user", kept or [Text("(earlier messages left out)")]), *half[1:]]
        half = half[1:]
    return half or history[-1:]


def _replace(s: Session, summary: str, trigger: str, *, omitted: bool, took_ms: float) -> None:
    before, last_prompt = s.context_tokens, _last_prompt(s)
    transcript = s.recorder.transcript.path if s.recorder.transcript is not None else "(not kept)"
    words = text("compact_summary").format(
        summary=summary, transcript=transcript, omitted=text("compact_omitted") if omitted else ""
    )
    words += _standing(s, last_prompt)
    kept = s.messages[-1:] if trigger == "manual" and s.messages[-1].role == "assistant" else []
    boundary, uuid = s.parts.new_id(), s.parts.new_id()
    after = len(words) // 4
    facts: dict[str, Any] = {
        "trigger": trigger,
        "preTokens": before,
        "postTokens": after,
        "durationMs": round(took_ms),
    }
    logical = s.recorder.boundary(boundary, facts)
    s.recorder.prompt(uuid, [Text(words)], isCompactSummary=True)
    for r in s.standing:
        s.recorder.reminder(r.kind, r.text, r.facts)
    blocks: list[Block] = [*(Text(r.text) for r in s.standing), Text(words)]
    # Under its old id a reader would take the entry for a part of the one before the boundary.
    kept = [msgspec.structs.replace(m, id=s.parts.new_id()) for m in kept if not m.calls]
    s.messages = [Message("user", blocks), *kept]
    for message in kept:
        envelope = {"id": message.id, "type": "message", "role": "assistant", "model": s.model.card.id}
        s.recorder.reply(envelope, [(s.parts.new_id(), b) for b in message.blocks], madeBy=message.made_by)
    s.context_tokens = 0
    s.turn.user_events += trigger == "auto"
    s.emit(Compacted(boundary, uuid, words, facts, logical))


def _standing(s: Session, last_prompt: str) -> str:
    """What must not depend on the summary: the latest request and the files the model has seen."""
    parts = []
    if last_prompt:
        parts.append(f"The latest request of the user, word for word:\n{last_prompt}")
    if s.seen:
        names = "\n".join(f"- {path}" for path in list(s.seen)[-30:])
        parts.append(
            f"Files read or changed so far (read them again before relying on their content):\n{names}"
        )
    parts += [told for kept in s.kept_objects() if (told := _told(kept))]
    return "".join(f"\n\n{part}" for part in parts)


def _told(kept: object) -> str:
    """What an object of the session (task list, plan) wants the model to know after a compaction."""
    tell = getattr(kept, "after_compaction", None)
    return str(tell()) if callable(tell) else ""


def _last_prompt(s: Session) -> str:
    for message in reversed(s.messages):
        if message.role == "user":
            typed = [b.text for b in message.blocks if isinstance(b, Text) and not is_reminder(b)]
            if typed:
                return typed[-1][:20_000]
    return ""
