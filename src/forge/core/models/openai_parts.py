"""What the two OpenAI protocols have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from forge.core.message import Block, Document, Image, Text, ToolResult, decode_block
from forge.core.model import ModelCard, Options

Json = dict[str, Any]


def effort_of(options: Options, card: ModelCard) -> str:
    """How hard to think, in the words of the OpenAI APIs; "" for models without that choice."""
    if options.thinking == "disabled":
        return "none" if card.effort else ""
    return options.effort or card.effort


def take_results(blocks: list[Block]) -> tuple[list[tuple[str, str]], list[Block]]:
    """The tool results of a turn, as call id and text, and the rest with the pictures of the results."""
    results: list[tuple[str, str]] = []
    rest: list[Block] = []
    for block in blocks:
        result = _as_result(block)
        if result is None:
            rest.append(block)
            continue
        text, pictures = _split_result(result)
        results.append((result.tool_use_id, text))
        if pictures:
            rest += [Text(f"Attachments of the tool result {result.tool_use_id}:"), *pictures]
    return results, rest


def _split_result(result: ToolResult) -> tuple[str, list[Block]]:
    """A tool result as text, with failures said in words, and what cannot be text."""
    content = [Text(result.content)] if isinstance(result.content, str) else result.content
    texts = [text for block in content if (text := text_of(block))]
    others: list[Block] = [block for block in content if isinstance(block, Image | Document)]
    text = "\n".join(texts)
    if result.is_error and not text.startswith(("Error", "<tool_use_error>")):
        text = f"Error: {text}"
    return text or ("(see the attachments below)" if others else "(no output)"), others


def _as_result(block: Block) -> ToolResult | None:
    """The block as a tool result; one with fields we do not know came as a dictionary."""
    if isinstance(block, ToolResult):
        return block
    if not isinstance(block, dict) or block.get("type") != "tool_result":
        return None
    content = block.get("content") or ""
    parts = content if isinstance(content, str) else [decode_block(part) for part in content]
    return ToolResult(str(block.get("tool_use_id")), parts, block.get("is_error"))


def text_of(block: Block) -> str:
    """The text in a block, also in one kept as a dictionary."""
    if isinstance(block, Text):
        return block.text
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return str(block["text"])
    if isinstance(block, Document) and block.source.type == "text":
        return block.source.data
    return ""


def data_uri(block: Image | Document) -> str:
    return f"data:{block.source.media_type};base64,{block.source.data}"


def read_usage(raw: Mapping[str, Any]) -> Json:
    """Usage of the OpenAI APIs in the words of the Messages API, where input excludes cached tokens."""
    details = raw.get("prompt_tokens_details") or raw.get("input_tokens_details") or {}
    cached = details.get("cached_tokens") or raw.get("prompt_cache_hit_tokens") or 0
    written = details.get("cache_write_tokens") or 0
    total = raw.get("prompt_tokens") or raw.get("input_tokens") or 0
    made = raw.get("completion_tokens_details") or raw.get("output_tokens_details") or {}
    return {
        "input_tokens": max(0, total - cached - written),
        "output_tokens": raw.get("completion_tokens") or raw.get("output_tokens") or 0,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens_details": {"thinking_tokens": made.get("reasoning_tokens") or 0},
    }


def block_delta(index: int, kind: str, **fields: Any) -> Json:
    """A piece of a block in the Messages API's shape."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def block_stop(index: int) -> Json:
    """The end of a block in the Messages API's shape."""
    return {"type": "content_block_stop", "index": index}


def signed(index: int, mark: str, state: Json) -> Json:
    """The signature that carries what a server wants back; it begins with the mark of its protocol."""
    return block_delta(index, "signature_delta", signature=mark + msgspec.json.encode(state).decode())


def message_start(raw: Mapping[str, Any], model: str) -> Json:
    """The first event of a reply in the Messages API's shape."""
    message: Json = {
        "id": raw.get("id") or "",
        "type": "message",
        "role": "assistant",
        "model": raw.get("model") or model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    return {"type": "message_start", "message": message}
