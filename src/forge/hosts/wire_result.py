"""Parts of the result record, the last of a turn: what was used, what was refused, what came of it."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent import event as ev
from forge.agent.ledger import Ledger, usage_record
from forge.core.message import Usage

Record = dict[str, Any]


def success(e: ev.TurnEnded) -> Record:
    """What only the end of a turn that went well has to say."""
    record: Record = {"result": e.result}
    if e.terminal_reason:
        record["api_error_status"] = e.api_status
    if e.api_error_type is not None:
        record["api_error_type"] = e.api_error_type
    if e.structured is not None:
        record["structured_output"] = e.structured
    if e.first_token_ms is not None and not e.is_error:
        first = round(e.first_token_ms)
        record |= {"ttft_ms": first, "ttft_stream_ms": first, "first_content_frame_ms": first}
        record["time_to_request_ms"] = round(e.request_ms or 0)
    return record


def denial(denied: ev.Denial) -> Record:
    """A refusal as the result lists it."""
    told: Record = msgspec.to_builtins(denied)
    return {**told, "tool_name": "Task" if denied.tool_name == "Agent" else denied.tool_name}


def spending(ledger: Ledger, before: dict[str, ev.ModelSpend] | None = None) -> Record:
    """What each model has used; since a snapshot, only those that have used more."""
    rows: Record = {}
    for name, spend in ledger.spent.items():
        old = (before or {}).get(name)
        if old is None:
            rows[name] = _row(ledger, name, spend)
        elif spend != old:
            rows[name] = _row(ledger, name, ev.ModelSpend(spend.usage - old.usage, spend.cost - old.cost))
    return rows


def _row(ledger: Ledger, name: str, spend: ev.ModelSpend) -> Record:
    u, card = spend.usage, ledger.cards.get(name)
    return {
        "inputTokens": u.input,
        "outputTokens": u.output,
        "cacheReadInputTokens": u.cache_read,
        "cacheCreationInputTokens": u.cache_write,
        "webSearchRequests": u.web_searches,
        "costUSD": round(spend.cost, 10),
        "contextWindow": card.context_window if card else 0,
        "maxOutputTokens": card.max_output if card else 0,
        "thinkingTokens": u.reasoning,
        "cacheCreationEphemeral5mInputTokens": u.cache_write - u.cache_write_1h,
        "cacheCreationEphemeral1hInputTokens": u.cache_write_1h,
        "canonicalModel": name,
        "provider": "firstParty" if card is None or card.provider == "anthropic" else card.provider,
        "costBasis": "list",
    }


def failed_start(message: str, uuid: str, wanted: str = "") -> Record:
    """The result of a run that never started; `wanted` is the session it was to be."""
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "stop_reason": None,
        "session_id": wanted or uuid,
        "total_cost_usd": 0,
        "usage": usage_record(Usage()),
        "modelUsage": {},
        "permission_denials": [],
        "uuid": uuid,
        "errors": [message],
        "result_index": 0,
    }
