"""The agent loop: prompt in, model replies and tool calls until the turn ends."""

from __future__ import annotations

import asyncio

import msgspec

from forge.agent.asides.beside import beside_prompt
from forge.agent.compact import compact, due, possible, settled, too_much
from forge.agent.elsewhere import take_results
from forge.agent.ending import answer_open_calls, end, failed, limited, unasked
from forge.agent.event import ApiFailed, Folded, TurnEnded, TurnStarted
from forge.agent.hooks import turns
from forge.agent.local import is_local, run_local
from forge.agent.mentions import mentioned
from forge.agent.news import tell_news
from forge.agent.noting import note
from forge.agent.planning import mode_news, tell_mode
from forge.agent.reply import Reply, ask_model
from forge.agent.session import Prompt, Session, Turn
from forge.agent.skills.granted import end_grants
from forge.agent.skills.typed import expand_typed
from forge.agent.structured import MAX_FAILURES, begin_value
from forge.agent.texts.load import text
from forge.agent.toolcall import run_calls
from forge.core.message import Text
from forge.foundation.errors import ModelError

MAX_CONTINUATIONS = 3


async def run_turn(s: Session, prompt: Prompt) -> TurnEnded:
    """Runs one turn to its end and emits it; an interrupt is an end like any other."""
    s.turn = Turn(s.parts.clock(), s.ledger.snapshot(), prompt.origin)
    begin_value(s.structured)
    turns.begin_prompt(s, prompt)
    try:
        async with asyncio.timeout(s.parts.limits.max_seconds):
            ended = await (run_local if is_local(s, prompt) else _turn)(s, prompt)
    except TimeoutError:
        answer_open_calls(s, text("interrupted"))
        ended = limited(s, "time")
    except ModelError as error:
        ended = await _api_failure(s, error)
        await turns.failed_turn(s, error)
    except asyncio.CancelledError:
        ended = _interrupted(s)
        if not s.interrupted:
            raise
    finally:
        await end_grants(s)
    s.emit(ended)
    return ended


async def _turn(s: Session, prompt: Prompt) -> TurnEnded:
    outcome = await turns.submit(s, prompt)
    s.emit(TurnStarted(prompt.uuid, prompt.record))
    submitted = turns.accepted(s, prompt, outcome)
    if submitted.ended is not None:
        return submitted.ended
    expanded = await expand_typed(s, prompt)
    if expanded.ended is not None:
        return expanded.ended
    prompt = expanded.prompt
    s.reminders = [*([] if prompt.verbatim else await mentioned(s, prompt)), *s.reminders]
    s.reminders += [*mode_news(s), *beside_prompt(s)]
    if prompt.calls:
        await run_calls(s, prompt.calls)
        s.turn.user_events = 0
    else:
        s.add_prompt(prompt, [*expanded.told, *submitted.told])
    if not prompt.query:
        return unasked(s)
    return _ended_by_calls(s) or await _steps(s)


async def _steps(s: Session) -> TurnEnded:
    """Replies and calls until something ends the turn."""
    while True:
        reply = None if s.over_budget() else await _ask(s)
        if reply is None or s.over_budget():
            answer_open_calls(s, text("budget"), show=False)
            return limited(s, "budget")
        if await _acted(s, reply):
            if ended := _ended_by_calls(s):
                return ended
        elif not _continued(s, reply):
            ended = await turns.stopping(s)
            if ended is not None:
                return ended
        if s.out_of_turns():
            return limited(s, "max_turns")
        tell_mode(s)
        await _fold_pending(s)


async def _ask(s: Session) -> Reply:
    """The next reply; a history that is or turns out to be too long is compacted first."""
    tell_news(s)
    if due(s):
        await _compact_ahead(s)
    try:
        reply = await ask_model(s)
    except ModelError as error:
        if not too_much(error) or not possible(s):
            raise
        await compact(s, "auto")
        reply = await ask_model(s)
    settled(s)
    return reply


async def _compact_ahead(s: Session) -> None:
    """Compacts in good time; if that fails there is still room, so the work goes on and the user is told."""
    try:
        await compact(s, "auto")
    except ModelError as error:
        if error.kind == "rapid_refill":
            raise
        s.warn(f"The conversation could not be compacted yet: {error.message}")


async def _acted(s: Session, reply: Reply) -> bool:
    """Runs the calls of a reply; false if there were none."""
    calls = reply.message.calls
    if not calls:
        return False
    if left := take_results(s, calls, reply.results):
        await run_calls(s, left, cut_off=reply.stop_reason == "max_tokens")
    s.turn.stop_blocks = 0
    return True


def _ended_by_calls(s: Session) -> TurnEnded | None:
    """Whether what the calls did ends the turn: the value was handed over, or a hook said so."""
    owed = s.structured
    if owed is not None and owed.value is not msgspec.UNSET:
        return end(s)
    if ended := turns.ended_by_hook(s):
        return ended
    return limited(s, "structured") if owed is not None and owed.failures >= MAX_FAILURES else None


def _continued(s: Session, reply: Reply) -> bool:
    """Whether a reply without calls is not the end: cut off, paused, stopped, empty, or a value is owed."""
    if reply.stop_reason == "pause_turn":
        return True
    if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        _go_on_after_cut(s)
        return True
    asked = "refused" if reply.stop_reason == "refusal" else "empty" if not reply.message.blocks else ""
    if asked and asked not in s.turn.reminded:
        s.turn.reminded.add(asked)
        note(s, text(asked))
        return True
    owed = s.structured
    if owed is not None and not owed.reminded:
        owed.reminded = True
        note(s, text("structured_output"))
        return True
    return False


def _go_on_after_cut(s: Session) -> None:
    s.turn.continuations += 1
    if s.turn.continuations > MAX_CONTINUATIONS:
        limit = s.parts.options.max_tokens or s.model.card.max_output
        raise ModelError(
            f"API Error: The model's response exceeded the {limit} output token maximum."
            " To change it, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
            kind="max_output_tokens",
        )
    note(s, text("continue"))


async def _fold_pending(s: Session) -> None:
    for prompt in s.take_pending():
        await turns.join(s, prompt)
        s.emit(Folded(s.parts.new_id(), prompt.uuid))


async def _api_failure(s: Session, error: ModelError) -> TurnEnded:
    answer_open_calls(s, text("interrupted"))
    uuid = s.parts.new_id()
    answer = error.answer
    shown = await turns.shown_failure(s, error)
    s.emit(ApiFailed(uuid, shown, error.kind, answer.status, answer.error_type, answer.request_id))
    message = {"id": uuid, "type": "message", "role": "assistant", "model": "<synthetic>"}
    s.recorder.reply(message, [(uuid, Text(error.message))], isApiErrorMessage=True)
    return msgspec.structs.replace(failed(s, error), result=shown)


def _interrupted(s: Session) -> TurnEnded:
    during_tools = answer_open_calls(s, text("interrupted")) or s.turn.stopped_in_tools
    note(s, text("interrupt_note_tools" if during_tools else "interrupt_note"), synthetic=False)
    reason = "aborted_tools" if during_tools else "aborted_streaming"
    return end(s, subtype="error_during_execution", reason=reason, errors=[turns.interruption(s)])
