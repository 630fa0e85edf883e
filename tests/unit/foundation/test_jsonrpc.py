from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from forge.foundation.jsonrpc import (
    MOST_UNSENT,
    Framing,
    Gone,
    HeaderFraming,
    LineFraming,
    Peer,
    Refusal,
    connect,
)

FRAMINGS = [HeaderFraming(), LineFraming()]


async def answering(method: str, params: Any) -> Any:
    if method == "fail":
        raise Refusal("not today", -5)
    if method == "never":
        await asyncio.Event().wait()
    return {"method": method, "params": params}


class Line:
    """Two peers that talk to each other through pipes."""

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.heard: list[tuple[str, Any]] = []
        self.news = asyncio.Event()

    async def __aenter__(self) -> Line:
        here, there = os.pipe(), os.pipe()
        self.near = Peer(await connect(here[0], there[1]), self.framing, answering, self.hear)
        self.far = Peer(await connect(there[0], here[1]), self.framing, answering, self.hear)
        self.tasks = [asyncio.ensure_future(p.serve()) for p in (self.near, self.far)]
        return self

    def hear(self, method: str, params: Any) -> None:
        self.heard.append((method, params))
        self.news.set()

    async def __aexit__(self, *args: object) -> None:
        self.near.end("over")
        self.far.end("over")
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def talk(framing: Framing, what: Callable[[Line], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with asyncio.timeout(5), Line(framing) as line:
            return await what(line)

    return asyncio.run(run())


@pytest.mark.parametrize("framing", FRAMINGS)
def test_both_ends_can_ask_and_answer_at_the_same_time(framing: Framing) -> None:
    async def both(line: Line) -> Any:
        return await asyncio.gather(
            line.near.request("a", {"x": "ä\n"}), line.far.request("b"), line.near.request("c", [1])
        )

    assert talk(framing, both) == [
        {"method": "a", "params": {"x": "ä\n"}},
        {"method": "b", "params": None},
        {"method": "c", "params": [1]},
    ]


@pytest.mark.parametrize("framing", FRAMINGS)
def test_notices_arrive_without_an_answer(framing: Framing) -> None:
    async def tell(line: Line) -> Any:
        line.near.notify("news", {"n": 1})
        await line.news.wait()
        return line.heard

    assert talk(framing, tell) == [("news", {"n": 1})]


def test_an_error_answer_is_a_refusal_in_the_words_of_the_other_side() -> None:
    async def ask(line: Line) -> Any:
        with pytest.raises(Refusal, match="not today") as caught:
            await line.near.request("fail")
        return caught.value.code

    assert talk(HeaderFraming(), ask) == -5


def test_a_request_is_waited_for_only_so_long() -> None:
    async def ask(line: Line) -> Any:
        with pytest.raises(TimeoutError):
            await line.near.request("never", seconds=0.01)
        return await line.near.request("after", seconds=5)

    assert talk(HeaderFraming(), ask) == {"method": "after", "params": None}


def test_the_end_of_the_other_side_fails_what_is_still_open() -> None:
    async def ask(line: Line) -> Any:
        asking = asyncio.ensure_future(line.near.request("never"))
        await asyncio.wait([asking], timeout=0.01)
        line.far.end("over")
        with pytest.raises(Gone, match="it has ended"):
            await asking
        with pytest.raises(Gone):
            line.near.notify("late")

    talk(HeaderFraming(), ask)


async def reading(framing: Framing, raw: bytes) -> Any:
    reading, writing = os.pipe()
    other = os.pipe()
    peer = Peer(await connect(reading, other[1]), framing, answering, lambda method, params: None)
    os.write(writing, raw)
    os.close(writing)
    await peer.serve()
    os.close(other[0])
    return str(peer.gone)


@pytest.mark.parametrize(
    ("framing", "raw", "reason"),
    [
        (HeaderFraming(), b"", "it has ended"),
        (HeaderFraming(), b"hello there", "what it wrote is not the protocol: 'hello there'"),
        (
            HeaderFraming(),
            b"hello\r\n\r\n{}",
            "what it wrote is not the protocol: 'hello\\r\\n\\r\\n'",
        ),
        (HeaderFraming(), b"Content-Length: x\r\n\r\n", "what it wrote is not the protocol"),
        (HeaderFraming(), b"x" * 20_000, "it wrote more than a header may be long"),
        (HeaderFraming(), b"Content-Length: 99999999999\r\n\r\n", "it announced a message of 99999999999"),
        (HeaderFraming(), b"Content-Length: 3\r\n\r\n{]}", "what it wrote is not the protocol"),
        (HeaderFraming(), b"content-length: 2\r\nX: y\r\n\r\n{}", "it has ended"),
        (HeaderFraming(), b"Content-Length: 20\r\n\r\n{}", "it has ended"),
        (HeaderFraming(), b'Content-Length: 6\r\n\r\n"text"', "what it wrote is not the protocol"),
        (LineFraming(), b"\n\nno json\n", "what it wrote is not the protocol"),
        (LineFraming(), b"x" * 20_000, "it wrote a line that is too long"),
    ],
)
def test_what_is_not_the_protocol_ends_the_connection_with_a_reason(
    framing: Framing, raw: bytes, reason: str
) -> None:
    assert asyncio.run(reading(framing, raw)).startswith(reason)


def test_a_peer_that_does_not_read_cannot_fill_the_memory() -> None:
    async def stuff() -> None:
        here, there = os.pipe(), os.pipe()
        peer = Peer(await connect(here[0], there[1]), HeaderFraming(), answering, lambda *_: None)
        with pytest.raises(Gone, match="it has stopped reading"):
            for _ in range(MOST_UNSENT >> 19):
                peer.notify("text", "x" * (1 << 20))
        peer.end("over")
        os.close(here[1])
        os.close(there[0])

    asyncio.run(stuff())
