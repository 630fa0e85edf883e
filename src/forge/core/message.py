"""The history of a conversation: messages made of blocks, in the Messages API's own shape.

Blocks encode to JSON as they are. A block with a type or a field this module does not know is kept as the
plain dictionary it came as, so that nothing a model said is ever lost.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Opaque = dict[str, Any]


class Text(msgspec.Struct, tag_field="type", tag="text", frozen=True):
    text: str


class Thinking(msgspec.Struct, tag_field="type", tag="thinking", frozen=True):
    thinking: str
    signature: str = ""


class RedactedThinking(msgspec.Struct, tag_field="type", tag="redacted_thinking", frozen=True):
    data: str


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base64 data of an image or a document."""

    type: str
    media_type: str
    data: str


class Image(msgspec.Struct, tag_field="type", tag="image", frozen=True):
    source: Source


class Document(msgspec.Struct, tag_field="type", tag="document", frozen=True, omit_defaults=True):
    source: Source
    title: str = ""


class ToolUse(msgspec.Struct, tag_field="type", tag="tool_use", frozen=True):
    id: str
    name: str
    input: dict[str, Any]


class ToolResult(msgspec.Struct, tag_field="type", tag="tool_result", frozen=True, omit_defaults=True):
    tool_use_id: str
    content: str | list[Block]
    is_error: bool | None = None


class Aside(msgspec.Struct, tag_field="type", tag="forge_aside", frozen=True, omit_defaults=True):
    """A text of Forge, not of the user: a message of its own to models that know such, else a reminder.

    `result_of` names the call it is about; such a reminder may stand inside the call's result.
    """

    text: str
    result_of: str = ""


Block = Text | Thinking | RedactedThinking | Image | Document | ToolUse | ToolResult | Aside | Opaque
Role = Literal["user", "assistant"]

# What `ToolUse.input` holds when the model's arguments were not a JSON object.
UNPARSED_INPUT = "__unparsedToolInput"


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one or more replies; `input` does not contain cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    web_searches: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f) + getattr(other, f) for f in self.__struct_fields__))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f) - getattr(other, f) for f in self.__struct_fields__))

    @property
    def context(self) -> int:
        """Tokens the last request and its answer occupy in the context window."""
        return self.input + self.cache_read + self.cache_write + self.output


class Message(msgspec.Struct, frozen=True):
    """One entry of the history. `made_by` names provider/model of an assistant message: thinking blocks may
    only be sent back to the same one."""

    role: Role
    blocks: list[Block]
    id: str = ""
    made_by: str = ""

    @property
    def calls(self) -> list[ToolUse]:
        return [b for b in self.blocks if isinstance(b, ToolUse)]

    @property
    def text(self) -> str:
        return "".join(_text(b) for b in self.blocks)


def _text(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    return str(block.get("text", "")) if isinstance(block, dict) and block.get("type") == "text" else ""


_KNOWN: dict[str, tuple[type[Any], frozenset[str]]] = {
    "text": (Text, frozenset({"type", "text"})),
    "thinking": (Thinking, frozenset({"type", "thinking", "signature"})),
    "redacted_thinking": (RedactedThinking, frozenset({"type", "data"})),
    "image": (Image, frozenset({"type", "source"})),
    "document": (Document, frozenset({"type", "source", "title"})),
    "tool_use": (ToolUse, frozenset({"type", "id", "name", "input"})),
}


def decode_block(raw: dict[str, Any]) -> Block:
    """Reads one wire block; unknown types and blocks with unknown fields stay dictionaries."""
    kind = raw.get("type")
    if kind == "tool_result":
        return _decode_result(raw)
    known = _KNOWN.get(kind) if isinstance(kind, str) else None
    if known is None or not known[1].issuperset(raw):
        return raw
    try:
        block: Block = msgspec.convert(raw, known[0])
    except msgspec.ValidationError:
        return raw
    return block


def decode_blocks(content: str | list[dict[str, Any]]) -> list[Block]:
    """Reads the `content` of a wire message, which may be plain text."""
    if isinstance(content, str):
        return [Text(content)]
    return [decode_block(b) for b in content]


def _decode_result(raw: dict[str, Any]) -> Block:
    content = raw.get("content", "")
    if not isinstance(raw.get("tool_use_id"), str) or not {
        "type",
        "tool_use_id",
        "content",
        "is_error",
    }.issuperset(raw):
        return raw
    if isinstance(content, list):
        content = [decode_block(b) for b in content]
    return ToolResult(raw["tool_use_id"], content, raw.get("is_error"))
