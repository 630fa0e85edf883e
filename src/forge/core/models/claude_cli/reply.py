"""One step of a run as the reply of a model: changes become events of the Messages API, and those deltas."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.message import UNPARSED_INPUT, Block, Image, Text, ToolResult, Usage, decode_block
from forge.core.model import Delta, Finished, Retrying
from forge.core.models.assemble import Assembler
from forge.core.models.claude_cli.changes import (
    Answered,
    Change,
    Confirmed,
    Grown,
    InputGrown,
    PartStarted,
    Replaced,
    StepFinished,
    StepStarted,
    Withdrawn,
)
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.parts import Content, Failure, ReasoningPart, TextPart, ToolPart
from forge.core.models.errors import Complaint, classify
from forge.foundation.errors import Answer, ModelError

_STOP_REASONS = {
    "tool-calls": "tool_use",
    "length": "max_tokens",
    "content-filter": "refusal",
    "pause": "pause_turn",
}
_KINDS = frozenset(
    {"authentication_failed", "billing_error", "rate_limit", "overloaded", "server_error", "model_not_found"}
)
_ANEW = Retrying(1, 1, 0.0, None, "server_error", "The reply was begun anew.")


class Copy:
    """A block as far as it was passed on."""

    __slots__ = ("done", "index", "part", "pieces")

    def __init__(self, part: Content) -> None:
        self.part = part
        self.index = 0
        self.pieces: list[str] = []
        self.done = False


class Reply:
    """Takes the changes of one step of the main thread, from its start to its end (`ended`).

    `names` translates the names tools have for the CLI; `results` are those of calls the CLI has run.
    """

    def __init__(self, made_by: str, names: dict[str, str] | None = None) -> None:
        self.results: list[ToolResult] = []
        self.ended = False
        self._made_by = made_by
        self._names = names or {}
        self._assembler = Assembler(made_by, "", self._names)
        self._begun: StepStarted | None = None
        self._first = 0
        self._copies: list[Copy] = []
        self._next = 0

    def take(self, change: Change) -> list[Delta]:
        """The deltas a change makes; after `Retrying` everything passed on before is void and comes again."""
        if isinstance(change, Retrying):
            return [change, *self._again()]
        if getattr(change, "child", ""):
            return []
        if isinstance(change, Answered):
            if isinstance(change.part, ToolPart):
                self.results.append(_result(change.part))
            return []
        if isinstance(change, Withdrawn | Replaced):
            return self._amend(change)
        return self._pass_on(self._events(change))

    def finish(self, cost: float | None = None) -> Finished:
        """The whole reply; only when it has ended."""
        finished = self._assembler.finish()
        return msgspec.structs.replace(finished, results=self.results, cost_usd=cost)

    def _pass_on(self, events: list[Event]) -> list[Delta]:
        return [delta for event in events for delta in self._assembler.feed(event)]

    def _events(self, change: Change) -> list[Event]:
        if isinstance(change, StepStarted):
            self._begun, self._first = change, change.at + 1
            return [_start(change)]
        if isinstance(change, PartStarted):
            self._copies.append(Copy(change.part))
            return [self._open(self._copies[-1])]
        if isinstance(change, StepFinished):
            self.ended = True
            return _stop(change)
        copy = self._copy(change.at) if isinstance(change, Grown | InputGrown | Confirmed) else None
        return [] if copy is None else _more(copy, change)

    def _open(self, copy: Copy) -> Event:
        copy.index, self._next = self._next, self._next + 1
        return {"type": "content_block_start", "index": copy.index, "content_block": _block(copy.part)}

    def _amend(self, change: Withdrawn | Replaced) -> list[Delta]:
        copy = self._copy(change.at)
        if copy is None:
            # Something of an earlier step, which moves this one up.
            self._first -= isinstance(change, Withdrawn)
            return []
        if isinstance(change, Withdrawn):
            self._copies.remove(copy)
        else:
            copy.pieces = [change.text]
        return [_ANEW, *self._again()]

    def _copy(self, at: int) -> Copy | None:
        """The block at a place in the list of parts, if it belongs to this step."""
        return self._copies[at - self._first] if at >= self._first else None

    def _again(self) -> list[Delta]:
        """Everything there is of the step so far."""
        self._assembler, self._next = Assembler(self._made_by, "", self._names), 0
        events = [] if self._begun is None else [_start(self._begun)]
        for copy in self._copies:
            events.append(self._open(copy))
            if copy.pieces:
                events.append(_piece(copy, "".join(copy.pieces)))
            if copy.done:
                events += _rest(copy)
        return self._pass_on(events)


def model_error(failure: Failure) -> ModelError:
    """The failure of a run as the error of a model. The CLI has tried again already: nobody else should."""
    kind, status = "unknown", None
    if failure.kind == "api_error":
        said, status = failure.type or "", failure.status
        kind = classify(status, Complaint(failure.message, said, said))
        kind = failure.word if kind == "unknown" and failure.word in _KINDS else kind
    return ModelError(failure.message, kind=kind, answer=Answer(status, failure.type))


def _start(change: StepStarted) -> Event:
    head = {"id": change.message_id, "type": "message", "role": "assistant", "model": change.model}
    rest: Event = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(change.usage)}
    return {"type": "message_start", "message": head | rest}


def _block(part: Content) -> Event:
    if isinstance(part, TextPart):
        return {"type": "text", "text": ""}
    if isinstance(part, ToolPart):
        return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": {}}
    if part.redacted is not None:
        return {"type": "redacted_thinking", "data": part.redacted}
    return {"type": "thinking", "thinking": "", "signature": ""}


def _piece(copy: Copy, text: str) -> Event:
    delta = {"type": "text_delta", "text": text}
    if isinstance(copy.part, ToolPart):
        delta = {"type": "input_json_delta", "partial_json": text}
    elif isinstance(copy.part, ReasoningPart):
        delta = {"type": "thinking_delta", "thinking": text}
    return {"type": "content_block_delta", "index": copy.index, "delta": delta}


def _more(copy: Copy, change: Change) -> list[Event]:
    if isinstance(change, Confirmed):
        copy.part, copy.done = change.part, True
        return _rest(copy)
    if not isinstance(change, Grown | InputGrown):
        return []
    copy.pieces.append(change.text)
    return [_piece(copy, change.text)]


def _rest(copy: Copy) -> list[Event]:
    """What is missing of a complete block."""
    events: list[Event] = []
    part = copy.part
    if isinstance(part, ToolPart) and not copy.pieces and part.input:
        events.append(_piece(copy, _json(part.input)))
    elif isinstance(part, ReasoningPart) and part.signature:
        delta = {"type": "signature_delta", "signature": part.signature}
        events.append({"type": "content_block_delta", "index": copy.index, "delta": delta})
    return [*events, {"type": "content_block_stop", "index": copy.index}]


def _json(value: dict[str, Any]) -> str:
    """The input as the model wrote it: what was no JSON comes wrapped."""
    wrapped = value.get(UNPARSED_INPUT)
    raw = wrapped.get("raw") if isinstance(wrapped, dict) else wrapped
    return raw if isinstance(raw, str) else msgspec.json.encode(value).decode()


def _stop(change: StepFinished) -> list[Event]:
    usage = _usage(change.usage) if change.usage is not None else {}
    delta = {"stop_reason": _STOP_REASONS.get(change.reason, "end_turn"), "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def _usage(usage: Usage) -> Event:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation": {"ephemeral_1h_input_tokens": usage.cache_write_1h},
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
        "server_tool_use": {"web_search_requests": usage.web_searches},
    }


def _result(part: ToolPart) -> ToolResult:
    images = [block for block in map(decode_block, part.images) if isinstance(block, Image)]
    text = part.output or ""
    content: str | list[Block] = [*([Text(text)] if text else []), *images] if images else text
    return ToolResult(part.call_id, content, part.status in ("error", "denied") or None)
