"""A thin HTTP/1.1 client on asyncio streams: keeps connections, speaks through proxies, reads answers piece
by piece. Leaving an answer's `async with` block early closes the socket at once."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from types import TracebackType

import msgspec

from forge.core.http.framing import BadAnswer, Framing, Head, framing_of, parse_head
from forge.core.http.tls import trust
from forge.core.http.unreachable import too_slow, unreachable
from forge.core.http.url import Url, proxy_for, proxy_login, split_url
from forge.foundation.errors import Answer, ModelError

_HEADER_LIMIT = 65_536
_PIECE = 65_536
_IDLE_SECONDS = 90.0

_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

Headers = Mapping[str, str]
_Place = tuple[str, str, int, str]


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds to wait for a connection and for the next byte of an answer."""

    connect: float = 30.0
    idle: float = 600.0


DEFAULT_TIMEOUTS = Timeouts()


class Connection:
    """One open socket and when it was last used."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.parked_at = 0.0

    @property
    def usable(self) -> bool:
        gone = self.reader.at_eof() or self.reader.exception() is not None or self.writer.is_closing()
        return not gone and asyncio.get_running_loop().time() - self.parked_at < _IDLE_SECONDS

    def abort(self) -> None:
        self.writer.transport.abort()


class Response:
    """The answer to one request; use as `async with`."""

    def __init__(self, client: Client, connection: Connection, head: Head, target: Target) -> None:
        self.status = head.status
        self.reason = head.reason
        self.headers = head.headers
        self._client = client
        self._connection = connection
        self._framing: Framing = framing_of(head)
        self._keeps_open = head.keeps_open
        self._target = target

    async def read(self) -> bytes:
        """The next piece of the body as soon as it arrives; b"" at the end."""
        framing = self._framing
        while not framing.done:
            data = await self._client.receive(self._connection, self._target)
            try:
                if not data:
                    framing.end()
                    break
                body = framing.feed(data)
            except BadAnswer as error:
                raise unreachable(error, self._target.url.origin, self._target.hint) from None
            if body:
                return body
        return b""

    async def read_all(self, limit: int = 1 << 22) -> bytes:
        """The rest of the body, at most about `limit` bytes of it."""
        pieces: list[bytes] = []
        size = 0
        while size < limit and (piece := await self.read()):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    async def settle(self, seconds: float = 0.1) -> None:
        """Waits a moment for the end of a body whose content is complete, so that the connection is kept."""
        try:
            async with asyncio.timeout(seconds):
                while await self.read():
                    pass
        except (TimeoutError, ModelError):
            return

    async def __aenter__(self) -> Response:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reusable():
            self._client.park(self._connection, self._target)
        else:
            self._connection.abort()

    def _reusable(self) -> bool:
        complete = self._framing.done and not self._framing.surplus and self._keeps_open
        # A server that answered early may never read the rest of the request.
        return complete and self._connection.writer.transport.get_write_buffer_size() == 0


class Target(msgspec.Struct, frozen=True):
    """Where a request goes: address, proxy, and what to advise when it cannot be reached."""

    url: Url
    proxy: Url | None
    hint: str

    @property
    def place(self) -> _Place:
        """What a kept connection must agree in."""
        url = self.url
        return (url.scheme, url.host, url.port, self.proxy.origin if self.proxy else "")


class Client:
    """Sends requests and keeps idle connections; one per model."""

    def __init__(self, env: Mapping[str, str], timeouts: Timeouts = DEFAULT_TIMEOUTS) -> None:
        self._env = env
        self._timeouts = timeouts
        self._idle: dict[_Place, list[Connection]] = {}
        self._tls: ssl.SSLContext | None = None

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes = b"", hint: str = ""
    ) -> Response:
        """Sends a request and returns the answer once its headers are there; raises `ModelError`."""
        address = split_url(url)
        target = Target(address, proxy_for(address, self._env), hint)
        request = _request(method, target, headers, body)
        # A server may close a kept connection just as it is used again; nothing was answered, so ask anew.
        while (kept := self._take(target)) is not None:
            response = await self._exchange(kept, request, target)
            if response is not None:
                return response
        response = await self._exchange(await self._connect(target), request, target)
        if response is None:
            raise unreachable(BadAnswer("it closed the connection without an answer"), address.origin, hint)
        return response

    async def close(self) -> None:
        """Closes all idle connections."""
        for connections in self._idle.values():
            for connection in connections:
                connection.abort()
        self._idle.clear()
        # Lets the loop run the transports' closing callbacks.
        await asyncio.sleep(0)

    def park(self, connection: Connection, target: Target) -> None:
        """Keeps a connection for the next request."""
        connection.parked_at = asyncio.get_running_loop().time()
        self._idle.setdefault(target.place, []).append(connection)

    async def receive(self, connection: Connection, target: Target) -> bytes:
        """The next bytes from the socket."""
        try:
            async with asyncio.timeout(self._timeouts.idle):
                return await connection.reader.read(_PIECE)
        except TimeoutError:
            raise too_slow(target.url.origin, "sent nothing", self._timeouts.idle) from None
        except OSError as error:
            raise unreachable(error, target.url.origin, target.hint) from None

    def _take(self, target: Target) -> Connection | None:
        kept = self._idle.get(target.place, [])
        while kept:
            connection = kept.pop()
            if connection.usable:
                return connection
            connection.abort()
        return None

    async def _exchange(self, connection: Connection, request: bytes, target: Target) -> Response | None:
        try:
            # No drain: a server may answer and close before it has read everything.
            connection.writer.write(request)
            head = await self._head(connection, target)
            if head is not None:
                return Response(self, connection, head, target)
        except BadAnswer as error:
            connection.abort()
            raise unreachable(error, target.url.origin, target.hint) from None
        except BaseException:
            connection.abort()
            raise
        connection.abort()
        return None

    async def _head(self, connection: Connection, target: Target) -> Head | None:
        """The first answer that is not provisional; None when the peer closed without a byte."""
        try:
            async with asyncio.timeout(self._timeouts.idle):
                while True:
                    head = parse_head((await connection.reader.readuntil(b"\r\n\r\n"))[:-4])
                    if head.status >= 200:
                        return head
        except asyncio.IncompleteReadError as error:
            if not error.partial:
                return None
            raise BadAnswer("it did not answer in HTTP/1.1") from None
        except asyncio.LimitOverrunError:
            raise BadAnswer("its headers are larger than 64 KB") from None
        except TimeoutError:
            raise too_slow(target.url.origin, "did not answer", self._timeouts.idle) from None
        except ConnectionError:
            return None
        except OSError as error:
            raise unreachable(error, target.url.origin, target.hint) from None

    async def _connect(self, target: Target) -> Connection:
        via = target.proxy or target.url
        hint = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY." if target.proxy else target.hint
        tls = self._context() if via.scheme == "https" else None
        try:
            async with asyncio.timeout(self._timeouts.connect):
                reader, writer = await asyncio.open_connection(
                    via.host, via.port, ssl=tls, limit=_HEADER_LIMIT, happy_eyeballs_delay=0.25
                )
                connection = Connection(reader, writer)
                if target.proxy and target.url.scheme == "https":
                    await self._tunnel(connection, target, target.proxy)
        except TimeoutError:
            raise too_slow(via.origin, "was not reachable", self._timeouts.connect, hint) from None
        except OSError as error:
            raise unreachable(error, via.origin, hint) from None
        return connection

    async def _tunnel(self, connection: Connection, target: Target, proxy: Url) -> None:
        place = f"{target.url.authority.removesuffix(':443')}:{target.url.port}"
        lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
        login = proxy_login(proxy)
        if login:
            lines.append(f"Proxy-Authorization: {login}")
        try:
            connection.writer.write("\r\n".join([*lines, "", ""]).encode())
            head = await self._head(connection, target)
            if head is None or head.status != 200:
                raise _proxy_refusal(proxy, head)
            await connection.writer.start_tls(self._context(), server_hostname=target.url.host)
        except BadAnswer as error:
            connection.abort()
            raise unreachable(error, proxy.origin, "Check HTTPS_PROXY.") from None
        except BaseException:
            connection.abort()
            raise

    def _context(self) -> ssl.SSLContext:
        # Loading the authorities costs 20 ms, so only for https, and once.
        if self._tls is None:
            self._tls = trust(self._env)
        return self._tls


def _request(method: str, target: Target, headers: Headers, body: bytes) -> bytes:
    url, proxy = target.url, target.proxy
    plain_proxy = proxy if proxy and url.scheme == "http" else None
    lines = [f"{method} {url.origin if plain_proxy else ''}{url.path} HTTP/1.1", f"host: {url.authority}"]
    if plain_proxy and (login := proxy_login(plain_proxy)):
        lines.append(f"proxy-authorization: {login}")
    lines.append("accept-encoding: identity")
    if body or method == "POST":
        lines.append(f"content-length: {len(body)}")
    for name, value in headers.items():
        if "\n" in value or "\r" in value or not name or not _TOKEN.issuperset(name):
            raise ModelError(
                f"API Error: The header {name!r} cannot be sent: it contains characters HTTP does not allow.",
                kind="connection",
                hint="Check ANTHROPIC_CUSTOM_HEADERS, the provider's `headers` and the key.",
            )
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def _proxy_refusal(proxy: Url, head: Head | None) -> ModelError:
    said = f"{head.status} {head.reason}".strip() if head else "the connection was closed"
    login = head is not None and head.status == 407
    return ModelError(
        f"API Error: The proxy {proxy.origin} refused the connection: {said}.",
        kind="connection",
        retryable=not login,
        answer=Answer(status=head.status if head else None, error_type="proxy_error"),
        hint="Set HTTPS_PROXY to http://user:password@host:port." if login else "Check HTTPS_PROXY.",
    )
