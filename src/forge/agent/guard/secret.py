"""A program asks for a password: the host program is asked; neither model nor hooks nor records see it."""

from __future__ import annotations

from typing import Any

from forge.agent.mcp.servers import Servers
from forge.agent.session import Session
from forge.core.tool import ToolError

_FIELD = "secret"


async def ask_secret(s: Session, line: str) -> str | None:
    """What the user typed for the program that shows `line`; None if nobody could, or would."""
    ask = s.keep(Servers).ask_host
    if ask is None:
        return None
    field = {"type": "string", "title": "Password", "format": "password"}
    request: dict[str, Any] = {
        "subtype": "elicitation",
        "mcp_server_name": "forgecmd",
        "message": f"A program that the model has started asks: {line}",
        "mode": "form",
        "requested_schema": {"type": "object", "properties": {_FIELD: field}, "required": [_FIELD]},
        "property_order": [_FIELD],
    }
    try:
        given = await ask(request)
    except ToolError:
        return None
    content = given.get("content")
    secret = content.get(_FIELD) if given.get("action") == "accept" and isinstance(content, dict) else None
    return secret if isinstance(secret, str) else None
