"""The OpenAI Chat Completions API, as spoken by most vendors, gateways and local servers."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.message import Block, Document, Image, Thinking, ToolUse
from forge.core.model import ModelCard, Request
from forge.core.models.asides import Turn
from forge.core.models.chat_stream import STATE, ChatStream
from forge.core.models.endpoint import Endpoint
from forge.core.models.history import Memo, loop_start, tidy
from forge.core.models.names import short_id, wire_name
from forge.core.models.openai_parts import data_uri, effort_of, take_results, text_of
from forge.core.models.translated import Dialect, TranslatedModel

Json = dict[str, Any]


def open_model(
    card: ModelCard, endpoint: Endpoint, *, device_id: str = "", quirks: tuple[str, ...] = ()
) -> TranslatedModel:
    """One model behind a chat completions endpoint.

    Quirks: `max_tokens` (the old name of the limit), `send_limit` (the server's own limit is too low),
    `no_stream_options`, `short_ids` (call ids of nine characters), `echo_reasoning` (wants its thoughts back
    during a tool loop).
    """
    return TranslatedModel(card, endpoint, Dialect("/chat/completions", build, ChatStream), quirks)


def build(
    request: Request, card: ModelCard, quirks: frozenset[str] = frozenset(), memo: Memo | None = None
) -> Json:
    """The request body."""
    options = request.options
    body: Json = {
        "model": card.id,
        "messages": _messages(request, tidy(request.messages, card, memo), quirks),
        "stream": True,
    }
    if "no_stream_options" not in quirks:
        body["stream_options"] = {"include_usage": True}
    limit = options.max_tokens or (card.max_output if "send_limit" in quirks else None)
    if limit:
        body["max_tokens" if "max_tokens" in quirks else "max_completion_tokens"] = limit
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": wire_name(tool.name),
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
        if options.tool_choice:
            body["tool_choice"] = _tool_choice(options.tool_choice)
    effort = effort_of(options, card)
    if effort:
        body["reasoning_effort"] = effort
    return body


def _tool_choice(wish: str) -> str | Json:
    known = {"auto": "auto", "none": "none", "any": "required"}
    return known.get(wish) or {"type": "function", "function": {"name": wire_name(wish)}}


def _messages(request: Request, turns: list[Turn], quirks: frozenset[str]) -> list[Json]:
    system = "\n\n".join(text for text in request.system if text.strip())
    messages: list[Json] = [{"role": "system", "content": system}] if system else []
    began = loop_start(turns)
    for number, turn in enumerate(turns):
        if turn.role == "user":
            messages += _user(turn.blocks)
        else:
            echo = "echo_reasoning" in quirks and number > began
            messages += _assistant(turn.blocks, echo=echo)
    if "short_ids" in quirks:
        _shorten(messages)
    return messages


def _user(blocks: list[Block]) -> list[Json]:
    """Tool results become messages of their own; their images follow, as results may only be text."""
    results, rest = take_results(blocks)
    messages: list[Json] = [{"role": "tool", "tool_call_id": call, "content": text} for call, text in results]
    parts = [part for block in rest if (part := _part(block))]
    if parts and all(part["type"] == "text" for part in parts):
        messages.append({"role": "user", "content": "\n\n".join(part["text"] for part in parts)})
    elif parts:
        messages.append({"role": "user", "content": parts})
    return messages


def _part(block: Block) -> Json | None:
    text = text_of(block)
    if text:
        return {"type": "text", "text": text}
    if isinstance(block, Image):
        return {"type": "image_url", "image_url": {"url": data_uri(block)}}
    if isinstance(block, Document):
        file = {"filename": block.title or "document.pdf", "file_data": data_uri(block)}
        return {"type": "file", "file": file}
    return None


def _assistant(blocks: list[Block], *, echo: bool) -> list[Json]:
    text = "".join(text_of(block) for block in blocks)
    states = [state for block in blocks if isinstance(block, Thinking) and (state := _state(block))]
    extras = {state["id"]: state["extra"] for state in states if "extra" in state}
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": msgspec.json.encode(block.input).decode()},
            **extras.get(block.id, {}),
        }
        for block in blocks
        if isinstance(block, ToolUse)
    ]
    if not text and not calls:
        return []
    message: Json = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    details = [item for state in states for item in state.get("details", ())]
    if details:
        message["reasoning_details"] = details
    thoughts = "".join(block.thinking for block in blocks if isinstance(block, Thinking))
    if echo and thoughts:
        message["reasoning_content"] = thoughts
    return [message]


def _state(block: Thinking) -> Json:
    if not block.signature.startswith(STATE):
        return {}
    state: Json = msgspec.json.decode(block.signature.removeprefix(STATE))
    return state


def _shorten(messages: list[Json]) -> None:
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = short_id(call["id"])
        if "tool_call_id" in message:
            message["tool_call_id"] = short_id(message["tool_call_id"])
