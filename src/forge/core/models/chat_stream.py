"""Turns the chunks of a chat completion into events of the Messages API, whatever a compatible server leaves
out, repeats or puts elsewhere."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.models.errors import stream_error
from forge.core.models.openai_parts import block_delta, block_stop, message_start, read_usage, signed
from forge.foundation.encode import NOT_JSON

Json = dict[str, Any]

# Begins the signature of thinking blocks that carry what a server wants back with the next request.
STATE = "chat:"

_STOP = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
_OPEN, _CLOSE = "<think>", "</think>"


class Call:
    """A tool call being streamed."""

    __slots__ = ("arguments", "block", "given_id", "id", "name", "place")

    def __init__(self, place: Any, given_id: str, call_id: str, name: str, block: int) -> None:
        self.place = place
        self.given_id = given_id
        self.id = call_id
        self.name = name
        self.block = block
        self.arguments = ""

    @property
    def complete(self) -> bool:
        try:
            return isinstance(msgspec.json.decode(self.arguments), dict)
        except NOT_JSON:
            return False


class ChatStream:
    """Feed every chunk, then `end`."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._started = False
        self._blocks = 0
        self._open: tuple[int, str] | None = None
        self._calls: list[Call] = []
        self._split = ThinkTag()
        self._details: list[Json] = []
        self._usage: Json = {}
        self._stop = ""
        self._refused = False

    def feed(self, chunk: Json) -> list[Json]:
        """The events of one chunk; raises `ModelError` for an error told in the stream."""
        if chunk.get("error"):
            raise stream_error(chunk)
        events = [] if self._started else [message_start(chunk, self._model)]
        self._started = True
        usage = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage")
        if usage:
            self._usage = read_usage(usage)
        for choice in (chunk.get("choices") or [])[:1]:
            events += self._delta(choice.get("delta") or choice.get("message") or {})
            self._stop = choice.get("finish_reason") or self._stop
        return events

    def end(self, *, done: bool) -> list[Json]:
        """The closing events; none for a stream that was cut off, which the assembler then reports."""
        if not (self._stop or done) or not self._started:
            return []
        kind, rest = self._split.rest()
        events = self._piece(kind, rest) + self._close()
        events += [block_stop(call.block) for call in self._calls]
        if self._details:
            events += self._keep({"details": self._details})
        reason = _STOP.get(self._stop, "end_turn")
        if self._refused:
            reason = "refusal"
        elif self._calls and reason == "end_turn":
            reason = "tool_use"
        delta = {"stop_reason": reason, "stop_sequence": None}
        return [
            *events,
            {"type": "message_delta", "delta": delta, "usage": self._usage},
            {"type": "message_stop"},
        ]

    def _delta(self, delta: Json) -> list[Json]:
        events: list[Json] = []
        details = [item for item in delta.get("reasoning_details") or () if isinstance(item, dict)]
        for item in details:
            merge_detail(self._details, item)
        thought = delta.get("reasoning_content") or delta.get("reasoning") or _detail_text(details)
        if isinstance(thought, str) and thought:
            events += self._piece("thinking", thought)
        content = delta.get("content")
        if content:
            for kind, text in self._split.feed(_plain(content)):
                events += self._piece(kind, text)
        if delta.get("refusal"):
            self._refused = True
            events += self._piece("text", delta["refusal"])
        calls = delta.get("tool_calls") or ()
        if delta.get("function_call"):
            calls = [{"index": 0, "function": delta["function_call"]}]
        for entry in calls:
            events += self._call(entry)
        return events

    def _piece(self, kind: str, text: str) -> list[Json]:
        """Text or thinking, in the open block of that kind or a new one."""
        if not text:
            return []
        events: list[Json] = []
        if self._open is None or self._open[1] != kind:
            events += self._close()
            self._open = (self._blocks, kind)
            self._blocks += 1
            empty = {"type": kind, kind: ""} | ({"signature": ""} if kind == "thinking" else {})
            events.append({"type": "content_block_start", "index": self._open[0], "content_block": empty})
        delta = {"type": f"{kind}_delta", kind: text}
        return [*events, {"type": "content_block_delta", "index": self._open[0], "delta": delta}]

    def _close(self) -> list[Json]:
        if self._open is None:
            return []
        index, kind = self._open
        self._open = None
        if kind == "text":
            return [block_stop(index)]
        state = {"details": self._details} if self._details else {}
        self._details = []
        return [signed(index, STATE, state), block_stop(index)]

    def _call(self, entry: Json) -> list[Json]:
        function = entry.get("function") or {}
        name, piece = function.get("name") or "", _arguments(function.get("arguments"))
        given, place = str(entry.get("id") or ""), entry.get("index")
        call = self._known(place, given, name, piece)
        if call is None:
            return self._new_call(entry, name, piece)
        # Some servers say the whole arguments once more at the end.
        if not piece or (piece == call.arguments and call.complete):
            return []
        call.arguments += piece
        return [block_delta(call.block, "input_json_delta", partial_json=piece)]

    def _known(self, place: Any, given: str, name: str, piece: str) -> Call | None:
        """The call this piece continues; None when it begins a new one."""
        same = [call for call in self._calls if place is None or call.place == place]
        if given:
            same = [call for call in same if call.given_id == given or not call.given_id]
        if not same:
            return None
        call = same[-1]
        if name and name != call.name:
            return None
        # The same name again, and arguments from the beginning, although the call is complete: a second call.
        again = bool(name) and piece.startswith("{") and piece != call.arguments and call.complete
        return None if again else call

    def _new_call(self, entry: Json, name: str, piece: str) -> list[Json]:
        given = str(entry.get("id") or "")
        taken = {call.id for call in self._calls}
        call_id = given or f"call_{self._blocks}"
        while call_id in taken:
            call_id += "_"
        events = self._close()
        extra = {key: entry[key] for key in ("extra_content",) if entry.get(key)}
        if extra:
            events += self._keep({"id": call_id, "extra": extra})
        call = Call(entry.get("index"), given, call_id, name, self._blocks)
        self._blocks += 1
        self._calls.append(call)
        opening = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        events.append({"type": "content_block_start", "index": call.block, "content_block": opening})
        if piece:
            call.arguments = piece
            events.append(block_delta(call.block, "input_json_delta", partial_json=piece))
        return events

    def _keep(self, state: Json) -> list[Json]:
        """A thinking block without text, which only carries state."""
        index = self._blocks
        self._blocks += 1
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        start = {"type": "content_block_start", "index": index, "content_block": empty}
        return [start, signed(index, STATE, state), block_stop(index)]


class ThinkTag:
    """Separates `<think>…</think>` at the very beginning of the content from the answer."""

    def __init__(self) -> None:
        self._held = ""
        self._mode = "start"

    def feed(self, text: str) -> list[tuple[str, str]]:
        if self._mode == "text":
            return [("text", text)]
        self._held += text
        if self._mode == "start":
            begun = self._held.lstrip()
            if _OPEN.startswith(begun[: len(_OPEN)]) and len(begun) < len(_OPEN):
                return []
            if not begun.startswith(_OPEN):
                self._mode = "text"
                return [self.rest()]
            self._mode, self._held = "thinking", begun.removeprefix(_OPEN)
        return self._thinking()

    def rest(self) -> tuple[str, str]:
        """What was held back."""
        held, self._held = self._held, ""
        return ("thinking" if self._mode == "thinking" else "text"), held

    def _thinking(self) -> list[tuple[str, str]]:
        thought, tag, answer = self._held.partition(_CLOSE)
        if tag:
            self._mode, self._held = "text", ""
            return [("thinking", thought), ("text", answer.lstrip("\n"))]
        # The end tag may be cut in two by the chunks.
        keep = next((n for n in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:n])), 0)
        self._held = thought[len(thought) - keep :]
        return [("thinking", thought[: len(thought) - keep])]


def merge_detail(details: list[Json], item: Json) -> None:
    """Joins the pieces of one reasoning detail: same place, same type, growing text."""
    for known in details:
        if known.get("index") == item.get("index") and known.get("type") == item.get("type"):
            for key, value in item.items():
                grows = key in ("text", "summary", "data") and isinstance(known.get(key), str)
                known[key] = known[key] + value if grows and isinstance(value, str) else value
            return
    details.append(dict(item))


def _detail_text(details: list[Json]) -> str:
    return "".join(str(item.get("text") or item.get("summary") or "") for item in details)


def _plain(content: Any) -> str:
    """Content is text, but some servers send a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _arguments(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
