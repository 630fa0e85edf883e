"""The chat completions API: chunks and whole answers."""

from __future__ import annotations

from typing import Any

from fakemodel.messages import number
from fakemodel.scenario import Json, arguments, call_id, pieces, text_pieces

_STOP = {"max_tokens": "length", "refusal": "content_filter", "end_turn": "stop", "tool_use": "tool_calls"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def chunks(body: Json, turn: Json) -> list[Json]:
    if "raw" in turn:
        return list(turn["raw"])
    n = number(body)
    out = [_chunk(body, {"role": "assistant", "content": ""})]
    calls = 0
    for index, block in enumerate(turn["blocks"]):
        if "tool" in block:
            out += [
                _chunk(body, {"tool_calls": [c]})
                for c in _call(block, calls, call_id(block, n, index, "call"))
            ]
            calls += 1
        elif "thinking" in block:
            out += [_chunk(body, {"reasoning_content": p}) for p in text_pieces(block, "thinking")]
        elif "text" in block:
            out += [_chunk(body, {"content": p}) for p in text_pieces(block, "text")]
    out += turn.get("extra", ())
    finish = _STOP[turn.get("stop") or ("tool_use" if calls else "end_turn")]
    out.append(_chunk(body, {}, finish))
    if (body.get("stream_options") or {}).get("include_usage"):
        out.append({**_head(body), "choices": [], "usage": {**USAGE, **turn.get("usage", {})}})
    return out


def _head(body: Json) -> Json:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}


def _chunk(body: Json, delta: Json, finish: str | None = None) -> Json:
    return {**_head(body), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _call(block: Json, index: int, tool_id: str) -> list[Json]:
    first, *rest = pieces(arguments(block), block.get("pieces", 1))
    function = {"name": block["tool"], "arguments": first}
    opening = {"index": index, "id": tool_id, "type": "function", "function": function}
    return [opening, *({"index": index, "function": {"arguments": piece}} for piece in rest)]


def whole(body: Json, turn: Json) -> Json:
    text = "".join(block.get("text", "") for block in turn["blocks"])
    calls: list[Any] = [
        {
            "id": call_id(block, number(body), index, "call"),
            "type": "function",
            "function": {"name": block["tool"], "arguments": arguments(block)},
        }
        for index, block in enumerate(turn["blocks"])
        if "tool" in block
    ]
    message: Json = {"role": "assistant", "content": text or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**_head(body), "object": "chat.completion", "choices": [choice], "usage": USAGE}


def failure(status: int, error: Json) -> Json:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": "scripted failure", "type": kind, "param": None, "code": None, **error}}
