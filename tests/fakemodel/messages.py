"""The Messages API: events and whole answers."""

from __future__ import annotations

from typing import Any

from fakemodel.scenario import Json, arguments, call_id, pieces, text_pieces

USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def number(body: Json) -> int:
    """How many assistant messages the request has."""
    return sum(message.get("role") == "assistant" for message in body.get("messages", ()))


def events(body: Json, turn: Json) -> list[Json]:
    if "raw" in turn:
        return list(turn["raw"])
    n = number(body)
    usage = {**USAGE, **turn.get("usage", {})}
    message = {
        "id": turn.get("id", f"msg_{n}"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    out: list[Json] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, block in enumerate(turn["blocks"]):
        opening, deltas = _block(block, call_id(block, n, index, "toolu"))
        out.append({"type": "content_block_start", "index": index, "content_block": opening})
        out += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        out.append({"type": "content_block_stop", "index": index})
    out += turn.get("extra", ())
    ending: Json = {"stop_reason": stop_reason(turn), "stop_sequence": None}
    if "stop_details" in turn:
        ending["stop_details"] = turn["stop_details"]
    totals = {"output_tokens": usage["output_tokens"]}
    return [*out, {"type": "message_delta", "delta": ending, "usage": totals}, {"type": "message_stop"}]


def stop_reason(turn: Json) -> str:
    return str(turn.get("stop") or ("tool_use" if any("tool" in b for b in turn["blocks"]) else "end_turn"))


def _block(block: Json, tool_id: str) -> tuple[Json, list[Json]]:
    if "tool" in block:
        raw = [{"type": "input_json_delta", "partial_json": ""}]
        raw += [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in pieces(arguments(block), block.get("pieces", 1))
        ]
        return {"type": "tool_use", "id": tool_id, "name": block["tool"], "input": {}}, raw
    if "thinking" in block:
        deltas: list[Json] = [
            {"type": "thinking_delta", "thinking": p} for p in text_pieces(block, "thinking")
        ]
        if block.get("signature", "c2ln"):
            deltas.append({"type": "signature_delta", "signature": block.get("signature", "c2ln")})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if "redacted" in block:
        return {"type": "redacted_thinking", "data": block["redacted"]}, []
    if "block" in block:
        return block["block"], block.get("deltas", [])
    return {"type": "text", "text": ""}, [
        {"type": "text_delta", "text": p} for p in text_pieces(block, "text")
    ]


def whole(body: Json, turn: Json) -> Json:
    content: list[Any] = []
    for index, block in enumerate(turn["blocks"]):
        if "tool" in block:
            tool_id = call_id(block, number(body), index, "toolu")
            content.append(
                {"type": "tool_use", "id": tool_id, "name": block["tool"], "input": block["input"]}
            )
        elif "text" in block:
            content.append({"type": "text", "text": block["text"]})
    return {
        "id": "msg_whole",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": stop_reason(turn),
        "stop_sequence": None,
        "usage": USAGE,
    }


def failure(status: int, error: Json) -> Json:
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    told = {"type": kinds.get(status, "api_error"), "message": "scripted failure", **error}
    return {"type": "error", "error": told, "request_id": "req_fake"}
