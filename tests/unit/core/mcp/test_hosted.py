from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forge.core.mcp.hosted import Hosted, open_hosted
from forge.core.mcp.port import Greeting, Launch, Offer, Question, Reply, Unavailable

ADD = {"name": "add", "description": "adds", "inputSchema": {"type": "object"}, "title": "Sum"}
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "calc"}, "instructions": "Use it well."}
GREETING = Greeting([Offer("add", "adds", {"type": "object"}, "Sum")], {"name": "calc"}, "Use it well.")


class Inside:
    """The server of a host program: `answers` are the results or errors by method."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {"initialize": HELLO, "tools/list": {"tools": [ADD]}, **answers}
        self.heard: list[dict[str, Any]] = []

    async def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        self.heard.append(message)
        found = self.answers.get(message.get("method", ""))
        if isinstance(found, Exception):
            raise found
        if found is asyncio.Event:
            await asyncio.Event().wait()
        return {"jsonrpc": "2.0", "result": {}} if found is None else {"id": message["id"], "result": found}

    @property
    def methods(self) -> list[Any]:
        return [(m.get("method"), m.get("id")) for m in self.heard]


async def nobody(question: Question) -> Reply:
    return Reply("cancel")


async def connected(inside: Inside, manifest: Any = None) -> Hosted:
    connection = await open_hosted(inside.exchange, manifest)(Launch("calc", ""), nobody)
    assert isinstance(connection, Hosted)
    return connection


def test_a_server_says_hello_and_what_it_offers() -> None:
    inside = Inside(**{"tools/call": {"content": []}})

    async def run() -> None:
        connection = await connected(inside)
        assert connection.greeting == GREETING
        assert await connection.call("add", {"a": 1}, "call-1") == {"content": []}
        await connection.close()
        assert not connection.alive

    asyncio.run(run())
    assert inside.methods == [
        ("initialize", 0),
        ("notifications/initialized", None),
        ("tools/list", 1),
        ("tools/call", 2),
    ]
    meta = {"claudecode/toolUseId": "call-1", "progressToken": 2}
    assert inside.heard[-1]["params"] == {"name": "add", "arguments": {"a": 1}, "_meta": meta}


def test_what_the_host_told_beforehand_is_not_asked_for() -> None:
    inside = Inside(**{"tools/call": {"content": []}})
    manifest = {"initializeResult": HELLO, "toolsListResult": {"tools": [ADD, 5, {"title": "nameless"}]}}

    async def run() -> None:
        opener = open_hosted(inside.exchange, manifest)
        first = await opener(Launch("calc", ""), nobody)
        assert first.greeting == GREETING
        await first.call("add", {}, "")
        again = await opener(Launch("calc", ""), nobody)
        assert again.greeting == GREETING

    asyncio.run(run())
    assert [method for method, _ in inside.methods][:2] == ["tools/call", "initialize"]
    assert inside.heard[0]["id"] == 2


def test_all_pages_of_tools_are_read_and_read_again() -> None:
    pages = [{"tools": [ADD], "nextCursor": "2"}, {"tools": [{**ADD, "name": "sub"}]}, {"tools": [ADD]}]

    class Paged(Inside):
        async def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
            if message.get("method") == "tools/list":
                self.answers["tools/list"] = pages.pop(0)
            return await super().exchange(message)

    inside = Paged()

    async def run() -> None:
        connection = await connected(inside)
        assert [o.name for o in connection.greeting.offers] == ["add", "sub"]
        await connection.renew()
        assert connection.greeting == GREETING

    asyncio.run(run())
    assert [m.get("params") for m in inside.heard if m.get("method") == "tools/list"] == [
        None,
        {"cursor": "2"},
        None,
    ]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": {"code": 1, "message": "exploded"}}, "exploded"),
        ({"error": "odd"}, "odd"),
        ({}, "the host program gave no MCP answer"),
    ],
)
def test_an_answer_without_a_result_says_why(answer: dict[str, Any], words: str) -> None:
    async def exchange(message: dict[str, Any]) -> dict[str, Any]:
        return answer

    with pytest.raises(Unavailable) as caught:
        asyncio.run(Hosted(exchange).greet())
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"id": 7, "method": "ping"}, [{"jsonrpc": "2.0", "id": 7, "result": {}}]),
        (
            {"id": 8, "method": "sampling/createMessage"},
            [{"jsonrpc": "2.0", "id": 8, "error": {"code": -32601, "message": "Method not found"}}],
        ),
        ({"method": "notifications/message"}, []),
        ({"id": 9, "result": {}}, []),
    ],
    ids=["ping", "an unknown request", "a notification", "a late answer"],
)
def test_what_a_server_says_unasked_is_answered(message: dict[str, Any], answer: list[Any]) -> None:
    inside = Inside()
    asyncio.run(Hosted(inside.exchange).answer(message))
    assert inside.heard == answer


def test_a_withdrawn_call_is_told_to_the_server() -> None:
    inside = Inside(**{"tools/call": asyncio.Event, "notifications/cancelled": Unavailable("gone")})

    async def run() -> None:
        connection = await connected(inside)
        calling = asyncio.ensure_future(connection.call("add", {}, "call-1"))
        while len(inside.heard) < 4:
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        while len(inside.heard) < 5:
            await asyncio.sleep(0)
        await connection.close()

    asyncio.run(run())
    params = {"requestId": 2, "reason": "AbortError: remote-cancel"}
    assert inside.heard[-1] == {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
