"""A scripted model on loopback that speaks the streaming Messages API. `python -m benchmarks.server` prints
its port. The first part of the path names the job; the turn is the number of assistant messages so far."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from benchmarks.jobs import JOBS

_IDS = itertools.count(1)
_USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


async def serve() -> None:
    server = await asyncio.start_server(_connection, "127.0.0.1", 0, limit=2**26)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


async def _connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            target = line.split()[1].decode()
            body = await _body(reader)
            writer.write(_answer(target.partition("?")[0], json.loads(body or b"{}")))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _body(reader: asyncio.StreamReader) -> bytes:
    headers = {}
    while header := (await reader.readline()).strip():
        name, _, value = header.partition(b":")
        headers[name.lower()] = value.strip()
    if headers.get(b"transfer-encoding") != b"chunked":
        return await reader.readexactly(int(headers.get(b"content-length", b"0")))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:size]
    await reader.readline()
    return body


def _answer(path: str, body: dict[str, Any]) -> bytes:
    if path.endswith("/count_tokens"):
        return _json(b"200 OK", {"input_tokens": 10})
    if not path.endswith("/v1/messages"):
        return _json(
            b"404 Not Found", {"type": "error", "error": {"type": "not_found_error", "message": path}}
        )
    blocks = _turn(path.split("/")[1], body)
    message = _message(body, blocks)
    if not body.get("stream"):
        return _json(b"200 OK", message)
    events = b"".join(b"event: %s\ndata: %s\n\n" % (e["type"].encode(), _dump(e)) for e in _events(message))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(events), events)


def _turn(job: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    turns = JOBS[job].turns if job in JOBS and body.get("tools") else []
    done = sum(m.get("role") == "assistant" for m in body.get("messages", []))
    calls = turns[done] if done < len(turns) else []
    tools = [
        {"type": "tool_use", "id": f"toolu_{next(_IDS):020d}", "name": "Bash", "input": c} for c in calls
    ]
    return tools or [{"type": "text", "text": "all done"}]


def _message(body: dict[str, Any], blocks: list[dict[str, Any]]) -> dict[str, Any]:
    stop = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    return {
        "id": f"msg_{next(_IDS):020d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _events(message: dict[str, Any]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(message["content"]):
        empty, deltas = _pieces(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": delta, "usage": _USAGE}, {"type": "message_stop"}]


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if block["type"] == "text":
        return {**block, "text": ""}, [
            {"type": "text_delta", "text": word + " "} for word in block["text"].split()
        ]
    piece = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, [piece]


def _json(status: bytes, value: dict[str, Any]) -> bytes:
    payload = _dump(value)
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % (status, len(payload)) + payload


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


if __name__ == "__main__":
    asyncio.run(serve())
