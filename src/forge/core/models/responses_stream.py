"""Turns the events of the Responses API into events of the Messages API. The finished item is authoritative;
pieces streamed before it may be missing."""

from __future__ import annotations

from typing import Any

from forge.core.models.errors import stream_error
from forge.core.models.openai_parts import block_delta, block_stop, message_start, read_usage, signed

Json = dict[str, Any]

# Begins the signature of thinking blocks that carry a reasoning item or other state of this API.
STATE = "responses:"
# The block type of output items the Messages API has no counterpart for.
ITEM = "responses_item"

_PIECES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "input",
}
_KINDS = {"message": "text", "reasoning": "thinking", "function_call": "input"}
_FAILED = frozenset({"response.failed", "response.cancelled"})
_ENDED = frozenset({"response.completed", "response.incomplete"})


class Item:
    """An output item being streamed as one block."""

    __slots__ = ("block", "kind", "sent")

    def __init__(self, block: int, kind: str) -> None:
        self.block = block
        self.kind = kind
        self.sent = ""


class ResponsesStream:
    """Feed every event; the last one closes the message."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._started = False
        self._blocks = 0
        self._items: dict[int, Item] = {}
        self._finished: set[int] = set()
        self._called = False
        self._refused = False
        self._searches = 0

    def feed(self, raw: Json) -> list[Json]:
        """The events of one event; raises `ModelError` when the response failed."""
        kind = raw.get("type", "")
        response = raw.get("response") or {}
        if kind == "error":
            raise stream_error(raw)
        if kind in _FAILED:
            raise stream_error({"error": response.get("error") or {"message": "the response failed"}})
        if raw.get("object") == "response":
            kind, response = "response.completed", raw
        events = [] if self._started else [message_start(response, self._model)]
        self._started = True
        if kind in _ENDED:
            return events + self._end(response)
        place = raw.get("output_index", 0)
        if kind == "response.output_item.added":
            return events + self._open(place, raw.get("item") or {})
        if kind == "response.output_item.done":
            return events + self._close(place, raw.get("item") or {})
        if kind == "response.reasoning_summary_part.added":
            return events + self._gap(place)
        return events + self._extend(place, kind, raw.get("delta"))

    def end(self, *, done: bool) -> list[Json]:
        """Nothing: the last event closes the message."""
        return []

    def _open(self, place: int, item: Json) -> list[Json]:
        kind = _KINDS.get(item.get("type", ""))
        if kind is None or place in self._items:
            return []
        self._items[place] = Item(self._blocks, kind)
        opening: Json = {"type": kind, kind: ""}
        if kind == "thinking":
            opening["signature"] = ""
        elif kind == "input":
            self._called = True
            call_id = item.get("call_id") or item.get("id") or f"call_{self._blocks}"
            opening = {"type": "tool_use", "id": call_id, "name": item.get("name") or "", "input": {}}
        return [self._begin(opening)]

    def _begin(self, opening: Json) -> Json:
        index = self._blocks
        self._blocks += 1
        return {"type": "content_block_start", "index": index, "content_block": opening}

    def _gap(self, place: int) -> list[Json]:
        """A new part of a summary is a new paragraph."""
        item = self._items.get(place)
        return self._send(item, "\n\n") if item and item.sent else []

    def _extend(self, place: int, event: str, piece: Any) -> list[Json]:
        kind = _PIECES.get(event)
        if kind is None or not isinstance(piece, str):
            return []
        self._refused |= event == "response.refusal.delta"
        events: list[Json] = []
        if place not in self._items:
            names = {kind: name for name, kind in _KINDS.items()}
            events = self._open(place, {"type": names[kind]})
        item = self._items[place]
        return events + (self._send(item, piece) if item.kind == kind else [])

    def _send(self, item: Item, text: str) -> list[Json]:
        if not text:
            return []
        item.sent += text
        delta = {"type": f"{item.kind}_delta", item.kind: text}
        if item.kind == "input":
            delta = {"type": "input_json_delta", "partial_json": text}
        return [{"type": "content_block_delta", "index": item.block, "delta": delta}]

    def _close(self, place: int, item: Json) -> list[Json]:
        if place in self._finished:
            return []
        self._finished.add(place)
        if item.get("type") not in _KINDS:
            self._searches += is_search(item)
            return self._other({"type": ITEM, "item": item})
        events = self._open(place, item)
        known = self._items[place]
        whole = self._text(item)
        # Only what the pieces did not say already; where they disagree, the pieces were shown and stay.
        if whole.startswith(known.sent):
            events += self._send(known, whole[len(known.sent) :])
        if known.kind == "thinking" and item.get("encrypted_content"):
            kept = {key: value for key, value in item.items() if key != "status" and value is not None}
            events.append(signed(known.block, STATE, {"item": kept}))
        events += [_cited(known.block, source) for source in _sources(item)]
        events.append(block_stop(known.block))
        if item.get("phase"):
            events += self._state({"phase": item["phase"]})
        return events

    def _text(self, item: Json) -> str:
        """The whole text of a finished item."""
        if item["type"] == "function_call":
            return str(item.get("arguments") or "")
        if item["type"] == "message":
            parts = item.get("content") or ()
            self._refused |= any(part.get("type") == "refusal" for part in parts)
            return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)
        parts = item.get("summary") or item.get("content") or ()
        return "\n\n".join(str(part.get("text") or "") for part in parts)

    def _other(self, opening: Json) -> list[Json]:
        begun = self._begin(opening)
        return [begun, block_stop(begun["index"])]

    def _state(self, state: Json) -> list[Json]:
        """A thinking block without text, which only carries state."""
        begun = self._begin({"type": "thinking", "thinking": "", "signature": ""})
        index = begun["index"]
        return [begun, signed(index, STATE, state), block_stop(index)]

    def _end(self, response: Json) -> list[Json]:
        events: list[Json] = []
        for place, item in enumerate(response.get("output") or ()):
            events += self._close(place, item)
        why = (response.get("incomplete_details") or {}).get("reason")
        reason = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}.get(why or "", "end_turn")
        if reason == "end_turn":
            reason = "tool_use" if self._called else "refusal" if self._refused else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        usage = read_usage(response.get("usage") or {})
        if self._searches:
            usage["server_tool_use"] = {"web_search_requests": self._searches}
        return [
            *events,
            {"type": "message_delta", "delta": delta, "usage": usage},
            {"type": "message_stop"},
        ]


def is_search(item: Json) -> bool:
    """Whether an item is a search of the web; looking at a page it found is part of one."""
    action = item.get("action") or {}
    return item.get("type") == "web_search_call" and action.get("type", "search") == "search"


def _sources(item: Json) -> list[Json]:
    """The pages a finished text names as its sources."""
    noted = [n for part in item.get("content") or () for n in part.get("annotations") or ()]
    return [n for n in noted if n.get("type") == "url_citation" and n.get("url")]


def _cited(index: int, source: Json) -> Json:
    citation = {
        "type": "web_search_result_location",
        "url": source["url"],
        "title": source.get("title") or "",
    }
    return block_delta(index, "citations_delta", citation=citation)
