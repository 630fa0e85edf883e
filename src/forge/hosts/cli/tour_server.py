"""The model of the tour: a server on this machine that speaks the Messages API and follows the story."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec

from forge.core.models.scripted import Turn, events
from forge.foundation.encode import dumps
from forge.hosts.cli.tour import Step, Tour

Sleep = Callable[[float], Awaitable[None]]

_NEWS = "<task-notification>"
_OUTPUT = re.compile(r"<output-file>(.*?)</output-file>")
_OVER: Turn = [{"text": "The story is over; there is nothing more to say."}]
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Pace(msgspec.Struct, frozen=True):
    """Seconds left for reading: before each reply, per letter of what is said before it, and per word."""

    reply: float = 0.0
    letter: float = 0.0
    word: float = 0.0


class Script:
    """Finds the reply to a request: sub-agents are known by their task, the conversation goes on in order."""

    def __init__(self, tour: Tour, repository: str) -> None:
        self._steps = tour.steps
        self._repository = repository
        self._agents = {_task(step): step.agent for step in tour.steps if step.agent}
        self._at = 0

    def reply(self, messages: list[dict[str, Any]]) -> tuple[Step, bool]:
        """The next step, and whether it belongs to the conversation with the user."""
        opening, said = dumps(messages[0]).decode(), dumps(messages).decode()
        for task, turns in self._agents.items():
            if task in opening:
                number = sum(message["role"] == "assistant" for message in messages)
                return self._filled(Step(turns[number] if number < len(turns) else _OVER), said), False
        if self._at < len(self._steps) and self._steps[self._at].waits and _NEWS in said:
            self._at += 1
        step = self._steps[self._at] if self._at < len(self._steps) else Step(_OVER)
        self._at += 1
        return self._filled(step, said), True

    def _filled(self, step: Step, said: str) -> Step:
        """The step with `{cwd}` and `{output}`, the file of the job whose end is news, replaced."""
        named = _OUTPUT.findall(said)
        words = {"{cwd}": self._repository, "{output}": named[-1] if named else "{output}"}
        return msgspec.structs.replace(step, turn=_replaced(step.turn, words))


class ScriptServer:
    """Serves a script on a free port; `present` is told each step of the conversation before it is played."""

    def __init__(
        self, script: Script, present: Callable[[Step], None], pace: Pace, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._script, self._present, self._pace, self._sleep = script, present, pace, sleep
        self._server: asyncio.Server | None = None
        self._replies = 0

    async def start(self) -> str:
        """Starts to serve; returns the address."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever hangs up in the middle does not want to know the rest; and when the tour is stopped, nobody
        # is left to tell: asyncio would report the end of a connection's task as an error.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            size = re.search(r"\ncontent-length: *(\d+)", head)
            body = await reader.readexactly(int(size[1]) if size else 0)
            writer.write(_ANSWER)
            await self._answer(body, writer)
        writer.close()

    async def _answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        asked = msgspec.json.decode(body)
        step, main = self._script.reply(asked["messages"])
        number, self._replies = self._replies, self._replies + 1
        if main:
            self._present(step)
        await self._wait(self._pace.reply + self._pace.letter * len(step.say))
        for event, _ in events(step.turn, number, len(body), asked["model"]):
            if event.get("delta", {}).get("type") == "text_delta":
                await self._wait(self._pace.word)
            writer.write(f"event: {event['type']}\ndata: ".encode() + dumps(event) + b"\n\n")
            await writer.drain()

    async def _wait(self, seconds: float) -> None:
        if seconds:
            await self._sleep(seconds)


def _task(step: Step) -> str:
    """The task a step gives to a sub-agent, as it stands in a request."""
    prompts = [block["input"]["prompt"] for block in step.turn if block.get("tool") == "Agent"]
    return dumps(prompts[0]).decode().strip('"')


def _replaced(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(name, word)
        return value
    if isinstance(value, dict):
        return {key: _replaced(each, words) for key, each in value.items()}
    return [_replaced(each, words) for each in value] if isinstance(value, list) else value
