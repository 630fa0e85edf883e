"""A server inside the host program: MCP messages go to it and come back through a function.

Its side of the protocol is small (no probe, no abilities of ours), so the SDK need not be loaded for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from forge.core.mcp.port import Ask, Connection, Greeting, Launch, Offer, Open, Unavailable
from forge.version import VERSION

Exchange = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

PROTOCOL = "2025-11-25"
TOOLS_CHANGED = "notifications/tools/list_changed"
_UNKNOWN_METHOD = -32601
_MOST_PAGES = 100
# Numbers of messages below this one belong to the greeting, also when the host sent it along.
_FIRST_CALL = 2


class Hosted:
    """A connection; `exchange` sends a message and returns the answer, or raises Unavailable."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._number = 0
        self._closed = False
        self._last_words: set[asyncio.Future[None]] = set()
        self.greeting = Greeting()

    @property
    def alive(self) -> bool:
        return not self._closed

    async def greet(self) -> None:
        """Says hello and asks what there is."""
        identity = {"name": "forge", "title": "Forge", "version": VERSION}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": identity}
        hello = await self._request("initialize", params)
        await self._tell("notifications/initialized")
        tools = await self._tools() if "tools" in _record(hello, "capabilities") else []
        self.greeting = _greeting(hello, tools)
        self._number = max(self._number, _FIRST_CALL)

    def greeted(self, manifest: dict[str, Any]) -> None:
        """Takes what the host has already told about the server instead of asking for it."""
        tools = _record(manifest, "toolsListResult").get("tools")
        self.greeting = _greeting(_record(manifest, "initializeResult"), tools)
        self._number = _FIRST_CALL

    async def renew(self) -> None:
        """Asks for the tools once more."""
        offers = _offers(await self._tools())
        self.greeting = Greeting(offers, self.greeting.identity, self.greeting.instructions)

    async def call(self, tool: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
        """The result of a tool; Unavailable with the server's words if it gives none."""
        meta: dict[str, Any] = {"claudecode/toolUseId": call_id} if call_id else {}
        number = meta["progressToken"] = self._number
        try:
            return await self._request("tools/call", {"name": tool, "arguments": given, "_meta": meta})
        except asyncio.CancelledError:
            gone = {"requestId": number, "reason": "AbortError: remote-cancel"}
            words = asyncio.ensure_future(self._tell("notifications/cancelled", gone))
            self._last_words.add(words)
            words.add_done_callback(self._last_words.discard)
            raise

    async def answer(self, message: dict[str, Any]) -> None:
        """Answers a message the server sent unasked, if it wants an answer."""
        if "id" not in message or "method" not in message:
            return
        if message["method"] == "ping":
            body: dict[str, Any] = {"result": {}}
        else:
            body = {"error": {"code": _UNKNOWN_METHOD, "message": "Method not found"}}
        await self._exchange({"jsonrpc": "2.0", "id": message["id"], **body})

    async def close(self) -> None:
        self._closed = True
        untold = list(self._last_words)
        for words in untold:
            words.cancel()
        await asyncio.gather(*untold, return_exceptions=True)

    async def _tools(self) -> list[Any]:
        found: list[Any] = []
        cursor: Any = None
        for _ in range(_MOST_PAGES):
            page = await self._request("tools/list", {"cursor": cursor} if cursor else None)
            tools, cursor = page.get("tools"), page.get("nextCursor")
            found += tools if isinstance(tools, list) else []
            if not cursor:
                break
        return found

    async def _request(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self._number += 1
        answer = await self._exchange(message if params is None else {**message, "params": params})
        error = answer.get("error")
        if error is not None:
            raise Unavailable(str(error.get("message") if isinstance(error, dict) else error))
        if "result" not in answer:
            raise Unavailable("the host program gave no MCP answer")
        return _record(answer, "result")

    async def _tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Says what needs no answer; a host that objects to it is not heard."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        with suppress(Unavailable):
            await self._exchange(message if params is None else {**message, "params": params})


def open_hosted(exchange: Exchange, manifest: dict[str, Any] | None = None) -> Open:
    """How such a server is connected; a manifest counts once, the next time the server itself is asked."""
    manifests = [manifest] if manifest is not None and "initializeResult" in manifest else []

    async def connect(launch: Launch, ask: Ask) -> Connection:
        hosted = Hosted(exchange)
        if manifests:
            hosted.greeted(manifests.pop())
        else:
            await hosted.greet()
        return hosted

    return connect


def _greeting(hello: dict[str, Any], tools: Any) -> Greeting:
    words = hello.get("instructions")
    return Greeting(_offers(tools), _record(hello, "serverInfo"), words if isinstance(words, str) else "")


def _offers(tools: Any) -> list[Offer]:
    named = [t for t in tools if isinstance(t, dict)] if isinstance(tools, list) else []
    return [_offer(tool) for tool in named if isinstance(tool.get("name"), str)]


def _offer(tool: dict[str, Any]) -> Offer:
    annotations = _record(tool, "annotations")
    title = tool.get("title") or annotations.get("title")
    return Offer(
        tool["name"],
        str(tool.get("description") or ""),
        _record(tool, "inputSchema"),
        str(title or ""),
        annotations,
        _record(tool, "_meta"),
    )


def _record(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
