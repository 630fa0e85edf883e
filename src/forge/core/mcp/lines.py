"""What carries the messages of a server: a program of ours, or requests to an address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import anyio
import httpx2
import mcp_types as types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from forge.core.mcp.port import Launch
from forge.core.mcp.process import ServerProcess
from forge.version import VERSION

# A server may think about an answer for long; how long a call may take is decided elsewhere.
_TIMEOUT = httpx2.Timeout(30.0, read=None)
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 401, 403, 404


class Line(Protocol):
    """`ended`: nothing can be said any more. `trouble`: what went wrong, in better words than the SDK's."""

    @property
    def ended(self) -> bool: ...

    @property
    def trouble(self) -> str: ...

    def open(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """The streams the SDK reads and writes."""
        ...

    async def close(self, grace: float) -> None:
        """Ends what is at the other side, as far as it is ours."""
        ...


class ProcessLine:
    """The standard input and output of a program."""

    trouble = ""

    def __init__(self, process: ServerProcess) -> None:
        self._process = process

    @property
    def ended(self) -> bool:
        return self._process.ended

    async def close(self, grace: float) -> None:
        await self._process.close(grace)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """Our process as the SDK's streams."""
        inward, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outward = anyio.create_memory_object_stream[SessionMessage](0)

        async def take(line: bytes) -> None:
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                return  # servers print all sorts of things; what is not a message is not for us
            await inward.send(SessionMessage(message))

        async def read() -> None:
            try:
                await self._process.read(take)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            finally:
                inward.close()

        async def write() -> None:
            async for message in outward:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                if not self._process.write(line.encode()):
                    inward.close()
                    return

        pumps = [asyncio.ensure_future(read()), asyncio.ensure_future(write())]
        try:
            yield received, sent
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for stream in (inward, received, sent, outward):
                stream.close()


class RemoteLine:
    """Requests to an address: streamable HTTP, or the older kind with one long stream of events."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self.ended = False
        self.trouble = ""

    async def close(self, grace: float) -> None:
        self.ended = True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """The SDK's own streams over a client of ours, which sees every answer."""
        if self._launch.kind == "sse":
            async with sse_client(self._launch.url, httpx_client_factory=self._made) as streams:
                yield streams
            return
        async with (
            self._client() as client,
            streamable_http_client(self._launch.url, http_client=client) as streams,
        ):
            yield streams

    def _made(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """As the SDK wants to have a client made; what it would give us is known already."""
        return self._client()

    def _client(self) -> httpx2.AsyncClient:
        headers = {"User-Agent": f"forge/{VERSION}", **self._launch.headers}
        hooks: dict[str, list[Callable[..., Any]]] = {"response": [self._look], "request": [self._ask]}
        return httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT, event_hooks=hooks)

    async def _ask(self, request: httpx2.Request) -> None:
        self.trouble = ""

    async def _look(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            self.trouble = f"the server wants to know who asks (HTTP {status}): set its headers"
        elif status == _NOT_FOUND and response.request.method == "POST":
            self.ended = True
            self.trouble = f"nothing was found at {_place(response.url)} (HTTP 404): check the address"


def _place(url: httpx2.URL) -> str:
    """An address without what may be secret in it."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))
