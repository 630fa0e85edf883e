"""Turns the events of the Messages API into deltas and builds the reply from them.

Every protocol ends here: the OpenAI adapters translate their streams into the same events first. What is
unknown (events, block types, deltas, fields) is passed on, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from forge.core.message import UNPARSED_INPUT, Block, Message, Text, Thinking, ToolUse, Usage, decode_block
from forge.core.model import BlockDelta, BlockFinished, BlockStarted, Delta, Ending, Finished, Started
from forge.core.models.errors import cut_off, stream_error
from forge.foundation.encode import NOT_JSON

Event = dict[str, Any]

_KINDS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("input", "partial_json"),
    "signature_delta": ("signature", "signature"),
}


class Draft:
    """A block that is still being streamed."""

    __slots__ = ("extra", "pieces", "signature", "start")

    def __init__(self, start: Event) -> None:
        self.start = start
        self.pieces: list[str] = []
        self.signature: list[str] = []
        self.extra: Event = {}


class Assembler:
    """Builds one reply. `feed` every event until `stopped`, then ask for `finish`.

    `names` translates tool names that had to be changed for the wire back to the real ones.
    """

    def __init__(self, made_by: str, request_id: str = "", names: dict[str, str] | None = None) -> None:
        self._made_by = made_by
        self._request_id = request_id
        self._names = names or {}
        self._head: Event = {}
        self._usage: Event = {}
        self._drafts: dict[int, Draft] = {}
        self._blocks: dict[int, Block] = {}
        self._ending: Event = {}
        self.stopped = False
        self._steps: dict[str, Callable[[Event], Sequence[Delta]]] = {
            "message_start": self._start,
            "content_block_start": self._open,
            "content_block_delta": self._extend,
            "content_block_stop": self._close,
            "message_delta": self._amend,
            "message_stop": self._stop,
            "error": self._fail,
        }

    def feed(self, event: Event) -> Sequence[Delta]:
        """The deltas of one event; raises `ModelError` for an error event."""
        step = self._steps.get(event.get("type", ""))
        return step(event) if step is not None else ()

    def finish(self) -> Finished:
        """The whole reply; raises `ModelError` when the stream ended too early."""
        if not self.stopped:
            raise cut_off(self._request_id, started=bool(self._blocks or self._drafts))
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        message = Message("assistant", blocks, id=_text(self._head, "id"), made_by=self._made_by)
        return Finished(
            message=message,
            stop_reason=_text(self._ending, "stop_reason") or ("tool_use" if message.calls else "end_turn"),
            usage=read_usage(self._usage),
            model=_text(self._head, "model"),
            request_id=self._request_id,
            stop_details=self._ending.get("stop_details"),
        )

    def _start(self, event: Event) -> Sequence[Delta]:
        self._head = event.get("message") or {}
        self._usage.update(self._head.get("usage") or {})
        usage = read_usage(self._usage)
        return (Started(event, _text(self._head, "id"), _text(self._head, "model"), usage, self._request_id),)

    def _open(self, event: Event) -> Sequence[Delta]:
        block = event.get("content_block") or {}
        if block.get("name") in self._names:
            block = {**block, "name": self._names[block["name"]]}
            event = {**event, "content_block": block}
        index = event.get("index", len(self._drafts))
        self._drafts[index] = Draft(block)
        return (BlockStarted(event, index),)

    def _extend(self, event: Event) -> Sequence[Delta]:
        index, delta = event.get("index", 0), event.get("delta") or {}
        draft = self._drafts.get(index)
        if draft is None:
            # Some servers leave out the start of a text block.
            draft = self._drafts[index] = Draft(
                _IMPLIED.get(delta.get("type", ""), {"type": "text", "text": ""})
            )
        known = _KINDS.get(delta.get("type", ""))
        if known is None:
            _merge(draft.extra, delta)
            return (BlockDelta(event, index, "other", ""),)
        kind, field = known
        text = delta.get(field) or ""
        (draft.signature if kind == "signature" else draft.pieces).append(text)
        return (BlockDelta(event, index, kind, text),)

    def _close(self, event: Event) -> Sequence[Delta]:
        index = event.get("index", 0)
        draft = self._drafts.pop(index, None)
        if draft is None:
            return ()
        block = self._blocks[index] = _build(draft)
        return (BlockFinished(event, index, block),)

    def _amend(self, event: Event) -> Sequence[Delta]:
        # Numbers are totals so far and may be repeated: replace, never add.
        self._usage.update({k: v for k, v in (event.get("usage") or {}).items() if v is not None})
        self._ending.update({k: v for k, v in (event.get("delta") or {}).items() if v is not None})
        return (Ending(event, final=False),)

    def _stop(self, event: Event) -> Sequence[Delta]:
        unclosed = [{"type": "content_block_stop", "index": index} for index in sorted(self._drafts)]
        self.stopped = True
        return [*(d for stop in unclosed for d in self._close(stop)), Ending(event, final=True)]

    def _fail(self, event: Event) -> Sequence[Delta]:
        raise stream_error(event, self._request_id)


_IMPLIED: dict[str, Event] = {"thinking_delta": {"type": "thinking", "thinking": ""}}


def read_usage(raw: Event) -> Usage:
    """The usage object of the Messages API in our own words."""
    cache = raw.get("cache_creation") or {}
    return Usage(
        input=raw.get("input_tokens") or 0,
        output=raw.get("output_tokens") or 0,
        cache_read=raw.get("cache_read_input_tokens") or 0,
        cache_write=raw.get("cache_creation_input_tokens") or 0,
        cache_write_1h=cache.get("ephemeral_1h_input_tokens") or 0,
        reasoning=(raw.get("output_tokens_details") or {}).get("thinking_tokens") or 0,
        web_searches=(raw.get("server_tool_use") or {}).get("web_search_requests") or 0,
    )


def parse_input(raw: str) -> dict[str, Any]:
    """The arguments of a call; nothing means {}, anything but an object is kept as text."""
    if raw.strip() in ("", "null"):
        return {}
    try:
        value = msgspec.json.decode(raw)
    except NOT_JSON:
        value = None
    return value if isinstance(value, dict) else {UNPARSED_INPUT: {"raw": raw, "len": len(raw)}}


def _build(draft: Draft) -> Block:
    start, text = draft.start, "".join(draft.pieces)
    kind = start.get("type")
    if kind == "tool_use":
        given = start.get("input")
        value = given if given and isinstance(given, dict) and not text else parse_input(text)
        return ToolUse(_text(start, "id"), _text(start, "name"), value)
    if kind == "text" and not draft.extra:
        return Text(_text(start, "text") + text)
    if kind == "thinking" and not draft.extra:
        return Thinking(_text(start, "thinking") + text, _text(start, "signature") + "".join(draft.signature))
    return decode_block(_complete(draft, text))


def _complete(draft: Draft, text: str) -> Event:
    """A block of a type or with fields not known here, put together by the same rules."""
    block = {k: v for k, v in draft.start.items() if v is not None}
    _merge(block, draft.extra)
    kind = block.get("type")
    if kind in ("text", "thinking"):
        block[kind] = _text(block, kind) + text
    elif text:
        block["input"] = parse_input(text)
    if draft.signature:
        block["signature"] = "".join(draft.signature)
    return block


def _merge(into: Event, delta: Event) -> None:
    """Adds an unknown delta: text and lists grow, a citation joins its list, the rest is replaced."""
    for key, value in delta.items():
        if key == "type":
            continue
        if key == "citation":
            into.setdefault("citations", []).append(value)
        elif isinstance(value, str | list) and isinstance(into.get(key), type(value)):
            into[key] = into[key] + value
        else:
            into[key] = value


def _text(raw: Event, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""
