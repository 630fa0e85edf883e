"""The responses API: events and whole answers."""

from __future__ import annotations

from typing import Any

from fakemodel.scenario import Json, arguments, call_id, pieces, text_pieces

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 15,
}


def number(body: Json) -> int:
    """How many assistant replies the input has: runs of the model's items between ours."""
    items = body.get("input") or []
    made = (
        [_made_by_model(item) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    )
    return sum(mine and not before for before, mine in zip([False, *made], made, strict=False))


def _made_by_model(item: Json) -> bool:
    return item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning")


def events(body: Json, turn: Json) -> list[Json]:
    if "raw" in turn:
        return list(turn["raw"])
    n = number(body)
    out: list[Json] = []
    items: list[Json] = []

    def push(kind: str, **fields: Any) -> None:
        out.append({"type": kind, "sequence_number": len(out), **fields})

    push("response.created", response=response(body, [], "in_progress"))
    push("response.in_progress", response=response(body, [], "in_progress"))
    for place, block in enumerate(turn["blocks"]):
        item = _item(block, call_id(block, n, place, "call"))
        push("response.output_item.added", output_index=place, item=_empty(item))
        for kind, fields in _deltas(block, item):
            push(kind, output_index=place, item_id=item["id"], **fields)
        push("response.output_item.done", output_index=place, item=item)
        items.append(item)
    for extra in turn.get("extra", ()):
        out.append({"sequence_number": len(out), **extra})
    stop = turn.get("stop")
    status = "incomplete" if stop in ("max_tokens", "refusal") else "completed"
    final = response(body, items, status)
    final["usage"] = {**USAGE, **turn.get("usage", {})}
    if status == "incomplete":
        final["incomplete_details"] = {
            "reason": "max_output_tokens" if stop == "max_tokens" else "content_filter"
        }
    push(f"response.{status}", response=final)
    return out


def response(body: Json, items: list[Json], status: str) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": body.get("model"),
        "output": items,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }


def _item(block: Json, tool_id: str) -> Json:
    if "tool" in block:
        return {
            "type": "function_call",
            "id": f"fc_{tool_id}",
            "call_id": tool_id,
            "name": block["tool"],
            "arguments": arguments(block),
            "status": "completed",
        }
    if "thinking" in block:
        return {
            "type": "reasoning",
            "id": f"rs_{tool_id}",
            "summary": [{"type": "summary_text", "text": block["thinking"]}],
            "encrypted_content": block.get("signature", "b3BhcXVl"),
        }
    part = {"type": "output_text", "text": block["text"], "annotations": [], "logprobs": []}
    phase = {"phase": block["phase"]} if "phase" in block else {}
    return {
        "type": "message",
        "id": f"msg_{tool_id}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
        **phase,
    }


def _empty(item: Json) -> Json:
    blank = {"arguments": "", "content": [], "summary": [], "encrypted_content": "", "status": "in_progress"}
    return {key: blank.get(key, value) for key, value in item.items()}


def _deltas(block: Json, item: Json) -> list[tuple[str, Json]]:
    if "tool" in block:
        found = pieces(item["arguments"], block.get("pieces", 1))
        kind = "response.function_call_arguments.delta"
        done = (
            "response.function_call_arguments.done",
            {"arguments": item["arguments"], "name": item["name"]},
        )
        return [*((kind, {"delta": piece}) for piece in found), done]
    if "thinking" in block:
        kind = "response.reasoning_summary_text.delta"
        part = {"summary_index": 0, "part": {"type": "summary_text", "text": ""}}
        deltas = [(kind, {"summary_index": 0, "delta": p}) for p in text_pieces(block, "thinking")]
        return [("response.reasoning_summary_part.added", part), *deltas]
    kind = "response.output_text.delta"
    blank = {"type": "output_text", "text": "", "annotations": []}
    start = ("response.content_part.added", {"content_index": 0, "part": blank})
    texts = text_pieces(block, "text")
    return [start, *((kind, {"content_index": 0, "delta": p, "logprobs": []}) for p in texts)]


def whole(body: Json, turn: Json) -> Json:
    items = [_item(block, call_id(block, number(body), n, "call")) for n, block in enumerate(turn["blocks"])]
    return {**response(body, items, "completed"), "usage": USAGE}
