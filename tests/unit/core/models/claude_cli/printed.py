"""Lines as the CLI prints them, and what becomes of them."""

from __future__ import annotations

import json
from typing import Any

from forge.core.models.claude_cli.changes import Change
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import Outcome
from forge.core.models.claude_cli.report import map_run

Line = dict[str, Any]

START_USAGE = {"input_tokens": 10, "output_tokens": 1}


def encoded(*lines: Line | str) -> bytes:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return "".join(f"{text}\n" for text in texts).encode()


def mapped(*lines: Line | str, code: int | None = 0, stderr: str = "") -> dict[str, Any]:
    """The report of a run."""
    return map_run([encoded(*lines)], code, stderr)


def fed(mapper: Mapper, *lines: Line | str) -> list[Change]:
    return [change for line in encoded(*lines).split(b"\n") for change in mapper.feed(line)]


def ended(*lines: Line | str, code: int | None = 0, cancelled: bool = False, stderr: str = "") -> Outcome:
    mapper = Mapper()
    fed(mapper, *lines)
    return mapper.end(code, cancelled=cancelled, stderr=stderr)


def init(**more: Any) -> Line:
    return {"type": "system", "subtype": "init", "session_id": "s1", "model": "m1", **more}


def system(subtype: str, **more: Any) -> Line:
    return {"type": "system", "subtype": subtype, **more}


def event(kind: str, line: Line | None = None, **more: Any) -> Line:
    return {"type": "stream_event", "event": {"type": kind, **more}, **(line or {})}


def begin(message_id: str = "msg_1", usage: Line | None = None, **more: Any) -> Line:
    message: Line = {"id": message_id, "model": "m1", "content": [], "usage": usage or START_USAGE}
    return event("message_start", message={**message, **more})


def opened(index: int, kind: str = "text", **more: Any) -> Line:
    return event("content_block_start", index=index, content_block={"type": kind, **more})


def piece(index: int, text: str, kind: str = "text") -> Line:
    delta = {"type": f"{kind}_delta", kind: text}
    return event("content_block_delta", index=index, delta=delta)


def raw_input(index: int, text: str) -> Line:
    delta = {"type": "input_json_delta", "partial_json": text}
    return event("content_block_delta", index=index, delta=delta)


def closed(index: int) -> Line:
    return event("content_block_stop", index=index)


def stopping(reason: str | None, output: int = 5) -> Line:
    return event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": output})


def stopped(line: Line | None = None) -> Line:
    return event("message_stop", line)


def streamed(text: str, reason: str = "end_turn", message_id: str = "msg_1") -> list[Line]:
    """A whole message of one text, as stream events only."""
    return [begin(message_id), opened(0), piece(0, text), closed(0), stopping(reason), stopped()]


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def call(call_id: str = "t1", name: str = "Bash", **given: Any) -> Line:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def whole(*blocks: Line, by: str | None = "msg_1", line: Line | None = None, **message: Any) -> Line:
    held = {"model": "m1", "content": list(blocks), **({"id": by} if by else {}), **message}
    return {"type": "assistant", "message": held, "parent_tool_use_id": None, **(line or {})}


def answer(call_id: str = "t1", content: Any = "out", *, line: Line | None = None, **block: Any) -> Line:
    held = {"type": "tool_result", "tool_use_id": call_id, "content": content, **block}
    return {"type": "user", "message": {"role": "user", "content": [held]}, **(line or {})}


def user(words: str, **more: Any) -> Line:
    return {"type": "user", "message": {"role": "user", "content": [text(words)]}, **more}


def result(**more: Any) -> Line:
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s1", **more}
