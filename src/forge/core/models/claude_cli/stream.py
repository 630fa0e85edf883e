"""`stream_event` lines: the events of the Messages API as the model sends them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from forge.core.message import UNPARSED_INPUT
from forge.core.models.claude_cli.changes import InputGrown
from forge.core.models.claude_cli.drafts import Call, Draft, Writing
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.parts import Retraction
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.threads import thread_of
from forge.core.models.claude_cli.values import object_of, text_of, usage_of
from forge.foundation.encode import NOT_JSON

WRITTEN = ("text", "thinking", "redacted_thinking")
CALLED = ("tool_use", "server_tool_use")


def take_stream(run: Run, line: Event) -> None:
    """Maps one stream event; which thread it belongs to is decided by the last `message_start` alone."""
    event = line.get("event")
    kind = event.get("type") if type(event) is dict else None
    if type(event) is not dict or type(kind) is not str:
        run.ignore("stream_event")
    elif kind == "content_block_delta":
        _delta(run, event)
    elif kind == "message_start":
        _start(run, event, line)
    elif kind == "message_stop":
        _stop(run, line)
    elif kind in _STEPS:
        _STEPS[kind](run, event)
    else:
        run.ignore(f"stream_event/{kind}")


def _start(run: Run, event: Event, line: Event) -> None:
    # The content is ignored: some versions put the first text here and send it again as a delta.
    message = object_of(event, "message")
    run.streaming = True
    model, usage = text_of(message, "model"), usage_of(object_of(message, "usage"))
    run.model = run.model or model or None
    draft = run.message(thread_of(run, line), text_of(message, "id"), model, usage)
    draft.streamed, draft.usage = True, usage
    run.current = draft


def _block_start(run: Run, event: Event) -> None:
    draft, index, block = run.current, event.get("index"), object_of(event, "content_block")
    if draft is None or type(index) is not int or index in draft.blocks:
        return
    kind = text_of(block, "type")
    slot: Writing | Call
    if kind in WRITTEN:
        slot = Writing(kind, streamed=True)
        if kind == "redacted_thinking":
            slot.redacted = text_of(block, "data")
    elif kind in CALLED:
        call_id = text_of(block, "id")
        if call_id in run.calls:
            return
        slot = run.calls[call_id] = Call(call_id, text_of(block, "name"), draft.thread.name)
        slot.input = object_of(block, "input")
    else:
        run.ignore(f"block/{kind}")
        return
    draft.blocks[index] = slot
    run.begin(draft, slot)


def _delta(run: Run, event: Event) -> None:
    draft, index, delta = run.current, event.get("index"), event.get("delta")
    if draft is None or type(index) is not int or type(delta) is not dict:
        return
    slot, kind = draft.blocks.get(index), delta.get("type")
    if slot is None or slot.confirmed:
        return
    if isinstance(slot, Call):
        piece = delta.get("partial_json")
        if kind == "input_json_delta" and type(piece) is str and piece:
            slot.raw.append(piece)
            run.changes.append(InputGrown(slot.at, piece, slot.child))
    elif kind == "signature_delta":
        slot.signature += text_of(delta, "signature")
    elif kind in ("text_delta", "thinking_delta"):
        text = delta.get(slot.kind)
        if type(text) is str and text:
            run.grow(draft.thread, slot, text)


def _block_stop(run: Run, event: Event) -> None:
    """The whole line of the block came before this; if it did not, the streamed input must do."""
    index = event.get("index")
    slot = run.current.blocks.get(index) if run.current is not None and type(index) is int else None
    if slot is None:
        return
    slot.closed = True
    if isinstance(slot, Call) and slot.raw and not slot.confirmed:
        slot.input = _parse("".join(slot.raw))


def _message_delta(run: Run, event: Event) -> None:
    draft = run.current
    if draft is None:
        return
    reason = text_of(object_of(event, "delta"), "stop_reason")
    if reason:
        draft.stop_reason, draft.stopped = reason, True
    usage = event.get("usage")
    if type(usage) is dict:
        told, before = usage_of(usage), draft.usage
        merged = {field: getattr(told, field) or getattr(before, field) for field in told.__struct_fields__}
        output = told.output if "output_tokens" in usage else before.output
        draft.usage = msgspec.structs.replace(before, **{**merged, "output": output})


def _stop(run: Run, line: Event) -> None:
    draft, abandoned = run.current, line.get("abandoned_blocks")
    if type(abandoned) is dict:
        draft = run.main.messages.get(text_of(abandoned, "api_message_id")) or draft
        if draft is not None:
            first = abandoned.get("from_block_index")
            _retract(run, draft, first if type(first) is int else 0)
    if draft is not None and draft is run.open and draft.stop_reason:
        run.close_step()


def _retract(run: Run, draft: Draft, first: int) -> None:
    """Takes back what was not confirmed; a message of which nothing is left has not ended, it never was."""
    given_up = [s for index, s in sorted(draft.blocks.items()) if index >= first and not s.confirmed]
    texts = [run.withdraw(draft, slot) for slot in given_up[::-1]]
    if given_up:
        run.retracted.append(Retraction(draft.id, first, "".join(texts[::-1])))
    if not draft.slots:
        draft.stop_reason = ""


def _nothing(run: Run, event: Event) -> None:
    """Known, and of no interest."""


def _parse(raw: str) -> Event:
    try:
        value = msgspec.json.decode(raw)
    except NOT_JSON:
        value = None
    return value if type(value) is dict else {UNPARSED_INPUT: {"raw": raw, "len": len(raw)}}


_STEPS: dict[str, Callable[[Run, Event], None]] = {
    "content_block_start": _block_start,
    "content_block_stop": _block_stop,
    "message_delta": _message_delta,
    "ping": _nothing,
    "error": _nothing,
}
