"""What a server's result becomes for the model."""

from __future__ import annotations

from typing import Any

from forge.core.message import Block, Image, Source, Text
from forge.foundation.encode import dumps

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def is_error(result: dict[str, Any]) -> bool:
    return result.get("isError") is True


def plain_text(result: dict[str, Any]) -> str:
    """All text of a result, as hooks and errors show it."""
    return "\n".join(str(part["text"]) for part in _parts(result) if isinstance(part.get("text"), str))


def content(result: dict[str, Any], server: str) -> str | list[Block]:
    """A structured value as JSON text, otherwise one block for each part."""
    structured = result.get("structuredContent")
    if structured is not None:
        return dumps(structured).decode()
    return [_block(part, server) for part in _parts(result)]


def _parts(result: dict[str, Any]) -> list[dict[str, Any]]:
    found = result.get("content")
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []


def _block(part: dict[str, Any], server: str) -> Block:
    kind, mime = part.get("type"), str(part.get("mimeType", ""))
    if kind == "text":
        return Text(str(part.get("text", "")))
    if kind == "image" and mime in _IMAGES:
        return Image(Source("base64", mime, str(part.get("data", ""))))
    if kind == "resource_link":
        return Text(f"[Resource link: {part.get('name', '')}] {part.get('uri', '')}")
    if kind == "resource" and isinstance(part.get("resource"), dict):
        resource = part["resource"]
        where = f"[Resource from {server} at {resource.get('uri', '')}]"
        if isinstance(resource.get("text"), str):
            return Text(f"{where} {resource['text']}")
        return Text(f"{where} ({resource.get('mimeType') or 'binary data'}, not shown)")
    return Text(f"[{kind or 'unknown'} content{f' ({mime})' if mime else ''}, not shown]")
