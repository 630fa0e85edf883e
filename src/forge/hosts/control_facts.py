"""Requests that only ask: version, models, cost, use of the context, and lists of what is loaded."""

from __future__ import annotations

from typing import Any

from forge.agent.compact import threshold
from forge.agent.memory import Memory
from forge.agent.session import Session
from forge.agent.toolset import sent_now
from forge.core.message import Text, ToolResult, ToolUse
from forge.core.model import ModelCard
from forge.core.models.cards import ALIASES
from forge.core.models.catalog import known_models, resolve
from forge.core.reminder import is_reminder
from forge.foundation.encode import dumps
from forge.foundation.errors import ForgeError
from forge.hosts.control_seat import Request, Seat
from forge.hosts.options import EFFORTS
from forge.hosts.parts.rows import component_usage
from forge.version import COMPATIBLE_WITH, VERSION

# What a token is worth in characters, for what no API has counted yet.
_CHARACTERS = 4


def get_binary_version(seat: Seat, request: Request) -> dict[str, Any]:
    """Which program answers."""
    return {"version": COMPATIBLE_WITH, "buildTime": None, "forgeVersion": VERSION}


def list_models(seat: Seat, request: Request) -> dict[str, Any]:
    """The models that can be named."""
    return {"models": model_rows(seat)}


def model_rows(seat: Seat) -> list[dict[str, Any]]:
    """The default model and every known one, as hosts list them."""
    rows = [_row(card, _value(card)) for card in known_models(seat.c.settings.get)]
    try:
        default = resolve(None, seat.c.env, seat.c.settings.get).card
    except ForgeError:
        return rows
    return [{**_row(default, "default"), "displayName": f"Default ({default.label or default.id})"}, *rows]


def _value(card: ModelCard) -> str:
    """What hosts call a model: its alias if it has one."""
    if card.provider != "anthropic":
        return card.ref
    names = [alias for alias, target in ALIASES.items() if target == card.id and alias != "default"]
    return names[0] if names else card.id


def _row(card: ModelCard, value: str) -> dict[str, Any]:
    row = {
        "value": value,
        "resolvedModel": card.id,
        "displayName": card.label or card.id,
        "description": f"{card.provider}, {card.context_window // 1000}k context",
        "supportsThinkingOff": True,
    }
    if card.effort:
        row |= {"supportsEffort": True, "supportedEffortLevels": list(EFFORTS)}
    if card.thinking == "adaptive":
        row["supportsAdaptiveThinking"] = True
    return row


def get_session_cost(seat: Seat, request: Request) -> dict[str, Any]:
    """The cost so far as text for people."""
    s = seat.session
    used = [spend.usage for spend in s.ledger.spent.values()]
    totals = (
        f"{sum(u.input for u in used)} input, {sum(u.output for u in used)} output,"
        f" {sum(u.cache_read for u in used)} cache read, {sum(u.cache_write for u in used)} cache write"
    )
    lines = [
        f"Total cost:            ${s.ledger.cost:.4f}",
        f"Total duration (API):  {s.ledger.api_ms / 1000:.0f}s",
        f"Usage:                 {totals}",
    ]
    return {"text": "\n".join(lines)}


def get_usage(seat: Seat, request: Request) -> dict[str, Any]:
    """The cost so far as numbers."""
    state = seat.session.ledger.state()
    return {
        "session": {
            "total_cost_usd": state["totalCostUSD"],
            "total_api_duration_ms": state["totalAPIDuration"],
            "total_duration_ms": round(seat.session.elapsed_ms()),
            "total_lines_added": 0,
            "total_lines_removed": 0,
            "model_usage": state["modelUsage"],
        },
        "subscription_type": None,
        "rate_limits_available": False,
        "rate_limits": None,
        "behaviors": None,
    }


def get_context_usage(seat: Seat, request: Request) -> dict[str, Any]:
    """How full the context is: what the API counted last, split up by an estimate."""
    s = seat.session
    window = s.model.card.context_window
    system = _tokens(sum(len(text) for text in s.system))
    tools = _tokens(sum(len(t.description) + len(dumps(t.schema)) for t in sent_now(s)))
    parts = _message_parts(s)
    messages = sum(parts.values())
    if s.context_tokens:
        messages = max(0, s.context_tokens - system - tools)
    used = system + tools + messages
    limit = threshold(s)
    categories = [
        ("system_prompt", "System prompt", system, "used"),
        ("system_tools", "System tools", tools, "used"),
        ("messages", "Messages", messages, "used"),
        ("autocompact_buffer", "Autocompact buffer", window - limit, "buffer"),
        ("free_space", "Free space", max(0, limit - used), "free"),
    ]
    return {
        "categories": [
            {"id": i, "name": n, "tokens": t, "color": _COLORS[k], "kind": k}
            for i, n, t, k in categories
            if t
        ],
        "totalTokens": used,
        "maxTokens": window,
        "rawMaxTokens": window,
        "autocompactSource": "model-default",
        "percentage": round(100 * used / window),
        "gridRows": [],
        "model": s.model.card.id,
        "memoryFiles": [
            {"path": f.path, "type": f.memory_type, "tokens": _tokens(len(f.content))}
            for f in s.keep(Memory).start.files
        ],
        "mcpTools": _server_tools(s),
        "mcpInstructions": [],
        **component_usage(s, _tokens),
        "autoCompactThreshold": limit,
        "isAutoCompactEnabled": s.parts.setting("autoCompactEnabled", True) is not False,
        "messageBreakdown": {**parts, "toolCallsByType": [], "attachmentsByType": []},
        "apiUsage": _api_usage(s),
    }


def _server_tools(s: Session) -> list[dict[str, Any]]:
    """The tools of MCP servers; one whose schema is not sent takes no room."""
    sent = {tool.name for tool in sent_now(s)}
    return [
        {
            "name": tool.name,
            "serverName": tool.remote.server,
            "tokens": _tokens(len(tool.description) + len(dumps(tool.schema))) if tool.name in sent else 0,
            "isLoaded": tool.name in sent,
        }
        for tool in s.tools()
        if tool.remote is not None
    ]


_COLORS = {"used": "promptBorder", "buffer": "inactive", "free": "promptBorder"}


def _message_parts(s: Session) -> dict[str, int]:
    sizes = dict.fromkeys(
        ("toolCallTokens", "toolResultTokens", "attachmentTokens", "assistantMessageTokens"), 0
    ) | {"userMessageTokens": 0}
    for message in s.messages:
        for block in message.blocks:
            kind = "assistantMessageTokens" if message.role == "assistant" else "userMessageTokens"
            if isinstance(block, ToolUse):
                kind = "toolCallTokens"
            elif isinstance(block, ToolResult):
                kind = "toolResultTokens"
            elif message.role == "user" and (not isinstance(block, Text) or is_reminder(block)):
                kind = "attachmentTokens"
            sizes[kind] += len(dumps(block))
    return {kind: _tokens(size) for kind, size in sizes.items()}


def _api_usage(s: Session) -> dict[str, int] | None:
    u = s.turn.usage
    if not s.context_tokens:
        return None
    return {
        "input_tokens": u.input,
        "output_tokens": u.output,
        "cache_creation_input_tokens": u.cache_write,
        "cache_read_input_tokens": u.cache_read,
    }


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS)


def get_hooks_listing(seat: Seat, request: Request) -> dict[str, Any]:
    """The hooks in force."""
    return {"events": [], "hooks": [], "eventCatalog": []}
