"""Asks a model of the product that talks to a scripted server, for tests of the model layer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fakemodel.server import Server
from forge.core.message import Message, Text, ToolResult, ToolUse
from forge.core.model import Delta, Finished, Model, Options, Request, ToolSpec
from forge.core.models.catalog import open_model

PROTOCOLS = ("anthropic", "openai_chat", "openai_responses")
BASH = ToolSpec("Bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})


def no_setting(key: str, default: Any) -> Any:
    return default


def open_at(server: Server, protocol: str, *, env: Mapping[str, str] | None = None, **row: Any) -> Model:
    """A model of an own provider at the server; no retries unless `env` asks for them."""
    base = server.url if protocol == "anthropic" else f"{server.url}/v1"
    provider = {"protocol": protocol, "baseUrl": base, "models": {"m": {"effort": "medium"}}, **row}
    settings = {"providers": {"fake": provider}}
    variables = {"CLAUDE_CODE_MAX_RETRIES": "0", **(env or {})}
    return open_model("fake/m", variables, settings.get)


def ask_for(*messages: Message, tools: tuple[ToolSpec, ...] = (BASH,), **options: Any) -> Request:
    """A request with these messages, or with a greeting."""
    history = list(messages) or [Message("user", [Text("hi")])]
    return Request("m", ["Be brief."], history, list(tools), Options(**options))


async def deltas_of(model: Model, request: Request) -> list[Delta]:
    try:
        return [delta async for delta in model.stream(request)]
    finally:
        await model.close()


def ask(model: Model, request: Request | None = None) -> list[Delta]:
    """All deltas of one request."""
    return asyncio.run(deltas_of(model, request or ask_for()))


def reply(model: Model, request: Request | None = None) -> Finished:
    """The finished reply of one request."""
    last = ask(model, request)[-1]
    assert isinstance(last, Finished)
    return last


def answered(finished: Finished, text: str = "fine") -> list[Message]:
    """The history that answers a reply's calls."""
    results = [ToolResult(block.id, text) for block in finished.message.blocks if isinstance(block, ToolUse)]
    return [Message("user", [Text("hi")]), finished.message, Message("user", list(results))]


async def skip_to(deltas: AsyncIterator[Delta], kind: type[Any]) -> None:
    """Reads up to the first delta of a kind; the stream stays open."""
    async for delta in deltas:
        if isinstance(delta, kind):
            return
    raise AssertionError(f"no {kind.__name__} came")
