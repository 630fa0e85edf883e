"""Reads values of any type out of lines that may hold anything."""

from __future__ import annotations

from forge.core.message import Usage
from forge.core.models.claude_cli.lines import Event


def text_of(raw: Event, key: str) -> str:
    """The text under a key, "" for anything else."""
    value = raw.get(key)
    return value if type(value) is str else ""


def object_of(raw: Event, key: str) -> Event:
    """The object under a key, an empty one for anything else."""
    value = raw.get(key)
    return value if type(value) is dict else {}


def objects_of(raw: Event, key: str) -> list[Event]:
    """The objects in the list under a key."""
    value = raw.get(key)
    return [item for item in value if type(item) is dict] if type(value) is list else []


def count_of(raw: Event, key: str) -> int:
    """The whole number under a key, 0 for anything else."""
    value = raw.get(key)
    return value if type(value) is int else 0


def amount_of(raw: Event, key: str) -> float | None:
    """The number under a key, None for anything else."""
    value = raw.get(key)
    if type(value) is int or (type(value) is float and abs(value) < float("inf")):
        return float(value)
    return None


def blocks_of(message: Event) -> list[Event]:
    """The content of a message as blocks; plain text is one block."""
    content = message.get("content")
    if type(content) is str:
        return [{"type": "text", "text": content}]
    return objects_of(message, "content")


def usage_of(raw: Event) -> Usage:
    """A usage object of the Messages API in our own words."""
    return Usage(
        input=count_of(raw, "input_tokens"),
        output=count_of(raw, "output_tokens"),
        cache_read=count_of(raw, "cache_read_input_tokens"),
        cache_write=count_of(raw, "cache_creation_input_tokens"),
        cache_write_1h=count_of(object_of(raw, "cache_creation"), "ephemeral_1h_input_tokens"),
        reasoning=count_of(object_of(raw, "output_tokens_details"), "thinking_tokens"),
        web_searches=count_of(object_of(raw, "server_tool_use"), "web_search_requests"),
    )
