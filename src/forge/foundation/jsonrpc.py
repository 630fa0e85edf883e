"""One JSON-RPC 2.0 peer over two streams, framed with Content-Length headers or by lines.

It knows no method: requests of the other side go to a function that is passed in.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from forge.foundation.encode import NOT_JSON

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
MOST_BYTES = 64 << 20
# More than this unread by the other side means that it has stopped reading.
MOST_UNSENT = 16 << 20
_MOST_HEADER = 8 << 10


class Gone(Exception):
    """The other side has ended, does not read any more, or does not speak the protocol."""


class Refusal(Exception):
    """An error answer, received or to be sent; the text is the other side's own."""

    def __init__(self, message: str, code: int = INTERNAL_ERROR) -> None:
        super().__init__(message)
        self.code = code


class Streams(NamedTuple):
    """Both ways of a connection."""

    reader: asyncio.StreamReader
    reading: asyncio.ReadTransport
    writing: asyncio.WriteTransport


async def connect(reading: int, writing: int) -> Streams:
    """Streams over two descriptors, which belong to them from now on."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_MOST_HEADER)
    inward, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", buffering=0)
    )
    outward, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", buffering=0))
    return Streams(reader, inward, outward)


class Framing(Protocol):
    """How messages are told apart on a stream."""

    def encode(self, body: bytes) -> bytes: ...

    async def read(self, reader: asyncio.StreamReader) -> bytes | None:
        """The next message, None at the end of the stream; Gone if it cannot be one."""
        ...


class HeaderFraming:
    """`Content-Length: N`, an empty line, N bytes: the framing of language servers."""

    def encode(self, body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    async def read(self, reader: asyncio.StreamReader) -> bytes | None:
        try:
            header = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if error.partial.strip():
                raise Gone(f"what it wrote is not the protocol: {_shown(error.partial)}") from None
            return None
        except asyncio.LimitOverrunError:
            raise Gone("it wrote more than a header may be long") from None
        length = _length(header)
        try:
            return await reader.readexactly(length)
        except asyncio.IncompleteReadError:
            return None


class LineFraming:
    """One message per line."""

    def encode(self, body: bytes) -> bytes:
        return body + b"\n"

    async def read(self, reader: asyncio.StreamReader) -> bytes | None:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                raise Gone("it wrote a line that is too long") from None
            if not line:
                return None
            if line.strip():
                return line


def _length(header: bytes) -> int:
    if len(header) > _MOST_HEADER:
        raise Gone("it wrote more than a header may be long")
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            if length > MOST_BYTES:
                raise Gone(f"it announced a message of {length} bytes; {MOST_BYTES} are accepted")
            return length
    raise Gone(f"what it wrote is not the protocol: {_shown(header)}")


def _shown(raw: bytes) -> str:
    return repr(raw[:80].decode("utf-8", "replace"))


class Incoming(msgspec.Struct, frozen=True):
    """Any message: a request has `method` and `id`, a notice only `method`, an answer only `id`."""

    id: int | str | None = None
    method: str | None = None
    params: Any = None
    result: Any = None
    error: Any = None


_DECODER = msgspec.json.Decoder(Incoming)

Answer = Callable[[str, Any], Awaitable[Any]]
Notice = Callable[[str, Any], None]


class Peer:
    """One end of a connection. `serve` must run for answers to arrive."""

    def __init__(
        self,
        streams: Streams,
        framing: Framing,
        answer: Answer,
        notice: Notice,
    ) -> None:
        self._streams = streams
        self._framing = framing
        self._answer = answer
        self._notice = notice
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last_id = -1
        self._answering: set[asyncio.Task[None]] = set()
        self.gone: Gone | None = None

    async def request(self, method: str, params: Any = None, *, seconds: float | None = None) -> Any:
        """The result of a call; Refusal if the other side reports an error, Gone or TimeoutError."""
        self._last_id += 1
        number = self._last_id
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method}, params)
            async with asyncio.timeout(seconds):
                return await waiting
        finally:
            self._waiting.pop(number, None)

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a message that gets no answer."""
        self._send({"jsonrpc": "2.0", "method": method}, params)

    def abandon(self, number: int | str) -> None:
        """Stops working on a request of the other side, which no longer wants the answer."""
        for task in self._answering:
            if task.get_name() == _task_name(number):
                task.cancel()

    async def serve(self) -> None:
        """Reads until the other side ends; then every open request fails with Gone."""
        reason = "it has ended"
        try:
            while (raw := await self._framing.read(self._streams.reader)) is not None:
                self._receive(raw)
        except Gone as gone:
            reason = str(gone)
        except OSError as error:
            reason = f"the connection broke: {error.strerror}"
        finally:
            self.end(reason)

    def end(self, reason: str) -> None:
        """Fails what is still waited for and closes the way out; nothing is sent any more."""
        self.gone = self.gone or Gone(reason)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self.gone)
        for task in self._answering:
            task.cancel()
        if not self._streams.writing.is_closing():
            self._streams.writing.abort()
        self._streams.reading.close()

    def _send(self, message: dict[str, Any], params: Any) -> None:
        if params is not None:
            message["params"] = params
        self._write(message)

    def _write(self, message: dict[str, Any]) -> None:
        if self.gone is not None:
            raise self.gone
        if self._streams.writing.is_closing():
            raise Gone("it has ended")
        if self._streams.writing.get_write_buffer_size() > MOST_UNSENT:
            raise Gone("it has stopped reading")
        self._streams.writing.write(self._framing.encode(msgspec.json.encode(message)))

    def _receive(self, raw: bytes) -> None:
        try:
            message = _DECODER.decode(raw)
        except NOT_JSON as error:
            raise Gone(f"what it wrote is not the protocol: {error}") from None
        if message.method is None:
            self._settle(message)
        elif message.id is None:
            self._notice(message.method, message.params)
        else:
            task = asyncio.ensure_future(self._reply(message.id, message.method, message.params))
            task.set_name(_task_name(message.id))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    def _settle(self, message: Incoming) -> None:
        waiting = self._waiting.get(message.id) if isinstance(message.id, int) else None
        if waiting is None or waiting.done():
            return  # an answer nobody waits for any more
        if message.error is None:
            waiting.set_result(message.result)
            return
        error = message.error if isinstance(message.error, dict) else {}
        code = error.get("code")
        words = str(error.get("message") or message.error)
        waiting.set_exception(Refusal(words, code if isinstance(code, int) else INTERNAL_ERROR))

    async def _reply(self, number: int | str, method: str, params: Any) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            reply["result"] = await self._answer(method, params)
        except Refusal as refusal:
            reply["error"] = {"code": refusal.code, "message": str(refusal)}
        try:
            self._write(reply)
        except Gone as gone:
            self.end(str(gone))


def _task_name(number: int | str) -> str:
    return f"answer to {number!r}"
