"""The ways a turn ends, and the promise that no tool use stays unanswered."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.compact_standing import latest_request
from forge.agent.event import ToolFinished, TurnEnded
from forge.agent.session import Session
from forge.core.message import Block, ToolResult
from forge.foundation.encode import dumps
from forge.foundation.errors import ModelError

REJECTED = "User rejected tool use"
_REASONS = {"context_overflow": "prompt_too_long", "rapid_refill": "rapid_refill_breaker"}


def end(
    s: Session,
    *,
    subtype: str = "success",
    reason: str = "completed",
    result: str = "",
    errors: list[str] | None = None,
) -> TurnEnded:
    """Ends the turn with what it has brought about."""
    turn, owed = s.turn, s.structured
    value: Any = None if owed is None or owed.value is msgspec.UNSET else owed.value
    text = dumps(value).decode() if value is not None else result or turn.shown
    ended = TurnEnded(
        subtype=subtype,
        terminal_reason=reason,
        is_error=subtype != "success",
        num_turns=1 + turn.user_events,
        stop_reason=turn.stop_reason,
        usage=turn.usage,
        result=text if subtype == "success" else "",
        errors=errors or [],
        denials=turn.denials,
        structured=value,
        duration_ms=s.elapsed_ms(),
        api_ms=s.ledger.api_ms,
        first_token_ms=turn.first_token_ms,
        request_ms=turn.request_ms,
        spent_before=turn.spent_before,
        prompt_uuids=turn.prompts,
        origin=turn.origin,
    )
    s.recorder.side("last-prompt", leafUuid=s.recorder.leaf, lastPrompt=latest_request(s)[:500])
    s.recorder.side("cost-state", **s.ledger.state())
    return ended


def unasked(s: Session) -> TurnEnded:
    """Ends a turn that only took note of something."""
    return msgspec.structs.replace(end(s, reason=""), num_turns=0)


def plain_number(value: float) -> str:
    """A number without an exponent and without zeros at its end."""
    return f"{value:.12f}".rstrip("0").rstrip(".")


def limited(s: Session, limit: str) -> TurnEnded:
    """Ends the turn because a limit of the run is reached."""
    limits = s.parts.limits
    if limit == "budget":
        text = f"Reached maximum budget (${plain_number(limits.max_budget_usd or 0)})"
        return end(s, subtype="error_max_budget_usd", reason="budget_exhausted", errors=[text])
    if limit == "structured":
        why = s.structured.wrong if s.structured is not None else ""
        text = "Failed to provide valid structured output after 5 attempts"
        text += f" — last StructuredOutput error: {why}" if why else ""
        reason = "structured_output_retry_exhausted"
        return end(s, subtype="error_max_structured_output_retries", reason=reason, errors=[text])
    if limit == "time":
        text = f"Reached maximum time ({limits.max_seconds:g} s)"
        return end(s, subtype="error_during_execution", reason="time_exhausted", errors=[text])
    text = f"Reached maximum number of turns ({limits.max_turns})"
    return end(s, subtype="error_max_turns", reason="max_turns", errors=[text])


def failed(s: Session, error: ModelError) -> TurnEnded:
    """Ends the turn with an API error: the protocol calls that a success that is an error."""
    s.turn.stop_reason = "stop_sequence"
    ended = end(s, reason=_REASONS.get(error.kind, "api_error"), result=error.message)
    return msgspec.structs.replace(
        ended,
        is_error=True,
        result=error.message,
        api_status=error.answer.status,
        api_error_type=error.answer.error_type,
    )


def answer_open_calls(s: Session, words: str, *, show: bool = True) -> bool:
    """Gives the calls of a reply that was never acted upon error results; true if there were any."""
    calls = s.messages[-1].calls if s.messages and s.messages[-1].role == "assistant" else []
    results: list[Block] = []
    for call in calls:
        result = ToolResult(call.id, words, True)
        uuid = s.parts.new_id()
        s.recorder.result(uuid, result, REJECTED)
        results.append(result)
        if show:
            meta = {"id": call.id, "non_execution_kind": "user-rejected"}
            s.turn.user_events += 1
            s.emit(ToolFinished(uuid, call, result, REJECTED, meta))
    if results:
        s.add_user(results)
    return bool(results)
