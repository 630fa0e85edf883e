"""The OpenAI Responses API, used without server-side state: everything is sent with every request."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.message import Block, Document, Image, Thinking, ToolUse
from forge.core.model import ModelCard, Request, WebSearch
from forge.core.models.asides import Turn
from forge.core.models.endpoint import Endpoint
from forge.core.models.history import Memo, tidy
from forge.core.models.names import wire_name
from forge.core.models.openai_parts import data_uri, effort_of, take_results, text_of
from forge.core.models.responses_stream import ITEM, STATE, ResponsesStream
from forge.core.models.translated import Dialect, TranslatedModel

Json = dict[str, Any]


def open_model(
    card: ModelCard, endpoint: Endpoint, *, device_id: str = "", quirks: tuple[str, ...] = ()
) -> TranslatedModel:
    """One model behind a responses endpoint. Quirk: `no_encrypted` for servers that refuse `include`."""
    return TranslatedModel(card, endpoint, Dialect("/responses", build, ResponsesStream), quirks)


def build(
    request: Request, card: ModelCard, quirks: frozenset[str] = frozenset(), memo: Memo | None = None
) -> Json:
    """The request body."""
    options = request.options
    body: Json = {
        "model": card.id,
        "input": _input(tidy(request.messages, card, memo)),
        "stream": True,
        "store": False,
    }
    system = "\n\n".join(text for text in request.system if text.strip())
    if system:
        body["instructions"] = system
    if request.search is not None:
        body |= _searching(request.search)
    elif request.tools:
        # Without the field the server would rewrite schemas to its strict subset.
        body["tools"] = [
            {
                "type": "function",
                "name": wire_name(tool.name),
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,
            }
            for tool in request.tools
        ]
        if options.tool_choice:
            body["tool_choice"] = _tool_choice(options.tool_choice)
    effort = effort_of(options, card)
    if effort:
        body["reasoning"] = {"effort": effort} if effort == "none" else {"effort": effort, "summary": "auto"}
        if "no_encrypted" not in quirks:
            body["include"] = [*body.get("include", ()), "reasoning.encrypted_content"]
    if options.max_tokens:
        body["max_output_tokens"] = options.max_tokens
    if options.session_id:
        body["prompt_cache_key"] = options.session_id
    return body


def _searching(search: WebSearch) -> Json:
    """The server's own tool, with the addresses it has looked at. It knows no blocked domains."""
    tool: Json = {"type": "web_search"}
    if search.allowed_domains:
        tool["filters"] = {"allowed_domains": search.allowed_domains}
    return {
        "tools": [tool],
        "tool_choice": "required",
        "max_tool_calls": search.max_uses,
        "include": ["web_search_call.action.sources"],
    }


def _tool_choice(wish: str) -> str | Json:
    known = {"auto": "auto", "none": "none", "any": "required"}
    return known.get(wish) or {"type": "function", "name": wire_name(wish)}


def _input(turns: list[Turn]) -> list[Json]:
    items: list[Json] = []
    for turn in turns:
        items += _user(turn.blocks) if turn.role == "user" else _assistant(turn.blocks)
    return items


def _user(blocks: list[Block]) -> list[Json]:
    results, rest = take_results(blocks)
    items: list[Json] = [{"type": "function_call_output", "call_id": c, "output": t} for c, t in results]
    parts = [part for block in rest if (part := _part(block))]
    return [*items, {"role": "user", "content": parts}] if parts else items


def _part(block: Block) -> Json | None:
    text = text_of(block)
    if text:
        return {"type": "input_text", "text": text}
    if isinstance(block, Image):
        return {"type": "input_image", "image_url": data_uri(block), "detail": "auto"}
    if isinstance(block, Document):
        return {"type": "input_file", "filename": block.title or "document.pdf", "file_data": data_uri(block)}
    return None


def _assistant(blocks: list[Block]) -> list[Json]:
    """Items in the order they came; reasoning exactly as received."""
    items: list[Json] = []
    for block in blocks:
        if isinstance(block, ToolUse):
            arguments = msgspec.json.encode(block.input).decode()
            call = {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
            items.append(call)
        elif isinstance(block, Thinking):
            _restore(items, block)
        elif isinstance(block, dict) and block.get("type") == ITEM:
            items.append(block["item"])
        elif text := text_of(block):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            items.append({"type": "message", "role": "assistant", "content": content})
    return items


def _restore(items: list[Json], block: Thinking) -> None:
    if not block.signature.startswith(STATE):
        return
    state = msgspec.json.decode(block.signature.removeprefix(STATE))
    if "item" in state:
        items.append(state["item"])
    elif "phase" in state and items and items[-1].get("role") == "assistant":
        items[-1]["phase"] = state["phase"]
