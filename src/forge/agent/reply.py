"""One model request: sends the history, emits the stream, keeps what arrived if it is cut short."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.compact_history import estimate
from forge.agent.elsewhere import workplace
from forge.agent.event import Replied, Requesting, Retried, Streaming
from forge.agent.hooks.sites import displayed
from forge.agent.session import Session
from forge.agent.toolset import defers, sent_now
from forge.core.amended import amended
from forge.core.message import UNPARSED_INPUT, Block, Message, Text, Thinking, ToolResult, ToolUse, Usage
from forge.core.model import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    Delta,
    Ending,
    Finished,
    Request,
    Retrying,
    Started,
    ToolSpec,
    closing,
)
from forge.core.schema import converted, normalize
from forge.foundation.errors import ModelError


class Reply(msgspec.Struct, frozen=True):
    """The finished reply of one step."""

    message: Message
    stop_reason: str
    results: list[ToolResult] = []


class Arrival:
    """What has arrived of the reply under way."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets a reply that will be sent again."""
        self.envelope: dict[str, Any] = {}
        self.id = ""
        self.request_id = ""
        self.blocks: list[tuple[str, Block]] = []
        self.partial: dict[int, str] = {}
        self.unended: list[int] | None = None
        self.thinking_since: float | None = None


async def ask_model(s: Session) -> Reply:
    """Sends the history and returns the reply, which is then part of history and transcript."""
    s.turn.steps += 1
    s.emit(Requesting())
    sent = s.parts.clock()
    if s.turn.request_ms is None:
        s.turn.request_ms = s.elapsed_ms()
    arrival = Arrival()
    try:
        finished = await _consume(s, arrival)
    except BaseException:
        _keep_partial(s, arrival)
        raise
    finally:
        spent = (s.parts.clock() - sent) * 1000
        s.turn.api_ms += spent
        s.ledger.api_ms += spent
    return _accept(s, arrival, finished)


def request(s: Session) -> Request:
    """The request for the present state of the session."""
    deferring = defers(s.model.card, s.parts.env)
    specs = [ToolSpec(t.name, t.description, t.schema, deferring and t.deferred) for t in sent_now(s)]
    return Request(s.model.card.id, s.system, s.messages, specs, s.parts.options, place=workplace(s))


async def _consume(s: Session, arrival: Arrival) -> Finished:
    finished: Finished | None = None
    async with closing(s.model.stream(request(s))) as deltas:
        async for delta in deltas:
            if isinstance(delta, Finished):
                finished = delta
            else:
                _show(s, arrival, delta, await _displayed(s, delta))
    if finished is None:
        raise ModelError("API Error: the model's answer ended too early.", kind="malformed_stream")
    return finished


async def _displayed(s: Session, delta: Delta) -> Block | None:
    """What is shown of a finished block; hooks may have another text for it."""
    return await displayed(s, delta.block) if isinstance(delta, BlockFinished) else None


def _show(s: Session, arrival: Arrival, delta: Delta, shown: Block | None) -> None:
    if isinstance(delta, Retrying):
        arrival.reset()
        s.emit(Retried(delta))
        return
    first: float | None = None
    if isinstance(delta, Started):
        first = s.elapsed_ms()
        if s.turn.first_token_ms is None:
            s.turn.first_token_ms = first
        message = delta.raw.get("message")
        arrival.envelope = (
            {k: v for k, v in message.items() if k != "content"} if isinstance(message, dict) else {}
        )
        arrival.id, arrival.request_id, arrival.unended = delta.id, delta.request_id, []
    elif isinstance(delta, BlockStarted):
        arrival.unended = [*(arrival.unended or []), delta.index]
    elif isinstance(delta, BlockDelta):
        _note_progress(s, arrival, delta)
    elif isinstance(delta, Ending) and delta.final:
        arrival.unended = None
    elif isinstance(delta, BlockFinished):
        _block_done(s, arrival, delta, shown or delta.block)
    s.emit(Streaming(delta, arrival.id, first))


def _note_progress(s: Session, arrival: Arrival, delta: BlockDelta) -> None:
    if delta.kind == "text":
        arrival.partial[delta.index] = arrival.partial.get(delta.index, "") + delta.text
    elif delta.kind == "thinking" and arrival.thinking_since is None:
        arrival.thinking_since = s.parts.clock()


def _block_done(s: Session, arrival: Arrival, delta: BlockFinished, shown: Block) -> None:
    uuid = s.parts.new_id()
    block = delta.block
    arrival.blocks.append((uuid, block))
    arrival.partial.pop(delta.index, None)
    arrival.unended = [index for index in arrival.unended or [] if index != delta.index]
    took: float | None = None
    if isinstance(block, Thinking) and arrival.thinking_since is not None:
        took = (s.parts.clock() - arrival.thinking_since) * 1000
        arrival.thinking_since = None
    shown = with_defaults(s, block, shown=True) if isinstance(block, ToolUse) else shown
    s.emit(Replied(uuid, arrival.envelope, shown, arrival.request_id, took))


def with_defaults(s: Session, call: ToolUse, *, shown: bool = False) -> ToolUse:
    """The call as its tool's schema has it: right names, values converted, defaults; or as it is `shown`."""
    tool = s.find_tool(call.name)
    if tool is None or UNPARSED_INPUT in call.input:
        return call
    if tool.validates:
        return ToolUse(call.id, call.name, converted(tool.schema, call.input))
    given = amended(tool.name, tool.schema, call.input, shown=shown)
    return ToolUse(call.id, call.name, normalize(tool.schema, given, shown=shown))


def _accept(s: Session, arrival: Arrival, finished: Finished) -> Reply:
    card = s.model.card
    if s.parts.limits.max_budget_usd is not None and s.ledger.surprises(card, finished.cost_usd):
        s.warn(
            f"The price of {card.ref} is not known, so it does not count against the budget (modelPricing)."
        )
    s.ledger.add(card, finished.usage, finished.cost_usd)
    s.turn.usage += finished.usage
    s.turn.stop_reason = finished.stop_reason
    s.context_tokens = finished.usage.context or _measured(s, finished.message)
    message = finished.message
    s.turn.text = message.text or s.turn.text
    if message.blocks:
        _record(s, arrival, finished.stop_reason, finished.usage)
        s.messages.append(message)
    return Reply(message, finished.stop_reason, finished.results)


def _measured(s: Session, message: Message) -> int:
    """About how full the window is, for models whose servers do not count."""
    asked = request(s)
    schemas = [t.description + msgspec.json.encode(t.input_schema).decode() for t in asked.tools]
    return estimate([*asked.messages, message]) + sum(map(len, [*asked.system, *schemas])) // 4


def _keep_partial(s: Session, arrival: Arrival) -> None:
    """Keeps finished blocks and unfinished text of a reply that was cut short; calls in it were never run."""
    for index in sorted(arrival.partial):
        if arrival.partial[index].strip():
            uuid, block = s.parts.new_id(), Text(arrival.partial[index])
            arrival.blocks.append((uuid, block))
            s.emit(Replied(uuid, arrival.envelope, block, arrival.request_id, aborted=True))
    _end_stream(s, arrival)
    kept: list[tuple[str, Block]] = [(u, b) for u, b in arrival.blocks if isinstance(b, Text | ToolUse)]
    if not kept:
        return
    arrival.blocks = kept
    _record(s, arrival, None, Usage())
    s.messages.append(Message("assistant", [b for _, b in kept], arrival.id, s.model.card.ref))


def _end_stream(s: Session, arrival: Arrival) -> None:
    """Whoever follows the stream sees the end of everything that has begun."""
    if arrival.unended is None:
        return
    stops = [{"type": "content_block_stop", "index": index} for index in arrival.unended]
    delta = {"stop_reason": None, "stop_sequence": None}
    raws: list[dict[str, Any]] = [*stops, {"type": "message_delta", "delta": delta}, {"type": "message_stop"}]
    raws[-2]["usage"] = arrival.envelope.get("usage") or {}
    for raw in raws:
        s.emit(Streaming(Ending(raw, final=raw is raws[-1]), arrival.id, None))


def _record(s: Session, arrival: Arrival, stop_reason: str | None, usage: Usage) -> None:
    totals = {
        **(arrival.envelope.get("usage") or {}),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }
    message = {**arrival.envelope, "stop_reason": stop_reason, "usage": totals}
    s.recorder.reply(message, arrival.blocks, requestId=arrival.request_id, madeBy=s.model.card.ref)
