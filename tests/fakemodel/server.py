"""The server: HTTP by hand, so that it can misbehave in every way a test needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from fakemodel import chat, messages, responses
from fakemodel.scenario import Json, Script


class Recorded(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Manner(msgspec.Struct, frozen=True):
    """How answers are sent.

    `chunk` cuts the stream into that many bytes (0: one write per event); `framing` is chunked, length or
    close; `drop_reused` closes a kept connection when its second request arrives; `preface` is sent before
    the answer; `space` and `done` are the blank after `data:` and the final `[DONE]`.
    """

    chunk: int = 0
    newline: str = "\n"
    framing: str = "chunked"
    drop_reused: bool = False
    preface: bytes = b""
    headers: dict[str, str] = {}
    models: tuple[str, ...] = ("fake-model",)
    space: bool = True
    done: bool = True


class Server:
    """A running server; `requests` grows as they arrive."""

    def __init__(self, turns: list[Any], manner: Manner, tls: ssl.SSLContext | None) -> None:
        self.requests: list[Recorded] = []
        self.connections = 0
        self.gone = threading.Event()
        self.asked = threading.Event()
        self.observe: Callable[[Recorded], None] = lambda request: None
        self.decide: Callable[[Json], Json] | None = None
        self._script = Script(turns)
        self._branches: dict[str, Script] = {}
        self._manner = manner
        self._tls = tls
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def branch(self, word: str, turns: list[Any]) -> None:
        """Serves these turns to conversations whose first message contains `word`, such as sub-agents."""
        self._branches[word] = Script(turns)

    def _script_for(self, body: Json) -> Script:
        first = json.dumps((body.get("messages") or body.get("input") or [None])[0])
        return next((s for word, s in self._branches.items() if word in first), self._script)

    def _turn_for(self, body: Json, speak: Speech) -> tuple[Json, Json | None]:
        """The turn and its failure: what `decide` makes of the request, else the next of the script."""
        if self.decide is not None:
            turn = self.decide(body)
            return turn, turn.get("error")
        return self._script_for(body).take(speak.number(body))

    @property
    def bodies(self) -> list[Any]:
        """Bodies of the model requests."""
        return [request.body for request in self.requests if request.method == "POST"]

    def run(self, port: int = 0) -> None:
        """Serves until `stop`."""
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(port))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop)

    def wait_ready(self) -> None:
        if not self._ready.wait(5):
            raise RuntimeError("the scripted server did not start")

    async def _serve(self, port: int) -> None:
        ended = asyncio.Event()
        self._stop = ended.set
        running: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            running.add(task)
            task.add_done_callback(running.discard)
            self.connections += 1
            await self._talk(reader, writer)

        server = await asyncio.start_server(connected, "127.0.0.1", port, limit=1 << 26, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await ended.wait()
        server.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served = 0
        try:
            while (request := await _read_request(reader)) is not None:
                served += 1
                if served > 1 and self._manner.drop_reused:
                    break
                self.requests.append(request)
                self.asked.set()
                self.observe(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            self.gone.set()
        finally:
            writer.transport.abort()

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answers one request; whether the connection stays open."""
        writer.write(self._manner.preface)
        path = request.path.partition("?")[0]
        protocol = next((p for p in PROTOCOLS if path.endswith(p)), None)
        if path.endswith("/count_tokens"):
            return await self._whole(writer, 200, {"input_tokens": 10})
        if path.endswith("/models"):
            rows = [{"id": name, "object": "model", "type": "model"} for name in self._manner.models]
            return await self._whole(writer, 200, {"object": "list", "data": rows, "has_more": False})
        if protocol is None or not isinstance(request.body, dict):
            return await self._whole(writer, 404, messages.failure(404, {"message": "no such endpoint"}))
        speak = PROTOCOLS[protocol]
        turn, error = self._turn_for(request.body, speak)
        if error is not None and ("status" in error or error.get("cut") == -1):
            return await self._refuse(writer, error, speak)
        if not request.body.get("stream"):
            return await self._whole(writer, 200, speak.whole(request.body, turn))
        return await self._stream(speak.frames(request.body, turn, self._manner), error, reader, writer)

    async def _refuse(self, writer: asyncio.StreamWriter, error: Json, speak: Speech) -> bool:
        if "status" not in error:
            return False
        status, headers = error["status"], error.get("headers", {})
        body = error["body"] if "body" in error else speak.failure(status, error.get("error", {}))
        return await self._whole(writer, status, body, headers)

    async def _whole(
        self, writer: asyncio.StreamWriter, status: int, body: Any, headers: dict[str, str] | None = None
    ) -> bool:
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        kind = "text/html" if isinstance(body, str) else "application/json"
        lines = {"content-type": kind, "content-length": str(len(raw)), "request-id": "req_fake"}
        writer.write(_head(status, {**lines, **self._manner.headers, **(headers or {})}) + raw)
        await writer.drain()
        return True

    async def _stream(
        self,
        frames: list[bytes],
        error: Json | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        error = error or {}
        framing = self._manner.framing
        headers = {"content-type": "text/event-stream", "request-id": "req_fake", **self._manner.headers}
        if "event" in error:
            frames = [*frames[: error.get("after", 0)], _frame(error["event"], self._manner, named=True)]
        if "garbage" in error:
            frames = [error["garbage"].encode()]
        limit = error.get("cut", error.get("hang"))
        frames = frames[:limit] if limit is not None else frames
        if framing == "chunked":
            headers["transfer-encoding"] = "chunked"
        elif framing == "length":
            headers["content-length"] = str(sum(len(frame) for frame in frames))
        else:
            headers["connection"] = "close"
        writer.write(_head(200, headers))
        await self._write(frames, writer)
        if "hang" in error:
            await reader.read(1)
            self.gone.set()
            return False
        if "cut" in error:
            await writer.drain()
            # Lets what was sent reach the client before the connection breaks.
            writer.close()
            return False
        writer.write(b"0\r\n\r\n" if framing == "chunked" else b"")
        await writer.drain()
        if framing == "close":
            writer.write_eof()
        return framing != "close"

    async def _write(self, frames: list[bytes], writer: asyncio.StreamWriter) -> None:
        size = self._manner.chunk
        if size:
            whole = b"".join(frames)
            frames = [whole[at : at + size] for at in range(0, len(whole), size)]
        for frame in frames:
            chunked = self._manner.framing == "chunked"
            writer.write(b"%x\r\n%b\r\n" % (len(frame), frame) if chunked else frame)
        await writer.drain()


class Speech(NamedTuple):
    """One protocol."""

    number: Callable[[Json], int]
    events: Callable[[Json, Json], list[Json]]
    whole: Callable[[Json, Json], Json]
    failure: Callable[[int, Json], Json]
    named: bool
    done: bool = False

    def frames(self, body: Json, turn: Json, manner: Manner) -> list[bytes]:
        """The bytes of each event."""
        frames = [_frame(event, manner, named=self.named) for event in self.events(body, turn)]
        if self.done and manner.done and turn.get("done", True):
            frames.append(f"data: [DONE]{manner.newline * 2}".encode())
        return frames


PROTOCOLS = {
    "/messages": Speech(messages.number, messages.events, messages.whole, messages.failure, named=True),
    "/chat/completions": Speech(
        messages.number, chat.chunks, chat.whole, chat.failure, named=False, done=True
    ),
    "/responses": Speech(responses.number, responses.events, responses.whole, chat.failure, named=True),
}


def _frame(event: Json, manner: Manner, *, named: bool) -> bytes:
    space = " " if manner.space else ""
    name = f"event:{space}{event['type']}{manner.newline}" if named and "type" in event else ""
    return f"{name}data:{space}{json.dumps(event)}{manner.newline * 2}".encode()


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


async def _read_request(reader: asyncio.StreamReader) -> Recorded | None:
    line = (await reader.readline()).decode()
    if not line.strip():
        return None
    method, path, _ = line.split(" ", 2)
    headers: dict[str, str] = {}
    while text := (await reader.readline()).decode().strip():
        name, _, value = text.partition(":")
        headers[name.lower()] = value.strip()
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    if "chunked" in headers.get("transfer-encoding", ""):
        while size := int((await reader.readline()).split(b";")[0], 16):
            raw += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    try:
        body = json.loads(raw) if raw else None
    except ValueError:
        body = raw
    return Recorded(method, path, headers, body)


@contextlib.contextmanager
def serve(turns: list[Any], *, tls: ssl.SSLContext | None = None, **manner: Any) -> Iterator[Server]:
    """Runs a server in a thread for the time of a `with` block; keywords are the fields of `Manner`."""
    server = Server(turns, Manner(**manner), tls)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()
        thread.join(5)
