"""Just enough HTTP for one page on loopback, and the checks that keep everybody else out."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping

import msgspec

_MOST_HEAD = 1 << 14
_MOST_BODY = 1 << 20
_SECONDS = 10.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    f"Content-Security-Policy: {_POLICY}\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n"
    "Connection: close\r\n"
)
_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
}


class Asked(msgspec.Struct, frozen=True):
    """One request; header names are in small letters."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""


class Wrong(Exception):
    """A request that is refused, with the status that says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read_request(reader: asyncio.StreamReader) -> Asked:
    """The next request; Wrong if it is not one, TimeoutError if it does not come."""
    async with asyncio.timeout(_SECONDS):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise Wrong(400, "not a request") from None
        asked = _parsed(head)
        length = asked.headers.get("content-length", "0")
        if not length.isdecimal() or "transfer-encoding" in asked.headers:
            raise Wrong(400, "a length is needed")
        if int(length) > _MOST_BODY:
            raise Wrong(413, "too long")
        try:
            body = await reader.readexactly(int(length))
        except asyncio.IncompleteReadError:
            raise Wrong(400, "cut off") from None
    return msgspec.structs.replace(asked, body=body)


def _parsed(head: bytes) -> Asked:
    if len(head) > _MOST_HEAD:
        raise Wrong(413, "too long")
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Wrong(400, "not a request")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name.lower() in headers:
            raise Wrong(400, "a header that is not one, or twice")
        headers[name.lower()] = value.strip()
    return Asked(words[0], words[1].partition("?")[0], headers)


def admitted(asked: Asked, port: int, token: str) -> str:
    """The rest of the path behind the token. Wrong for whoever does not know it or comes from elsewhere.

    A page of another site can make a browser send requests here, but it cannot choose `Host`, and `Origin`
    says where it comes from.
    """
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
    host = asked.headers.get("host", "")
    if host not in hosts:
        raise Wrong(403, "not for this host")
    origin = asked.headers.get("origin", "")
    if origin and origin != f"http://{host}":
        raise Wrong(403, "not from this page")
    if asked.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Wrong(403, "not from this page")
    _, _, rest = asked.path.partition("/")
    given, slash, rest = rest.partition("/")
    if not slash or not hmac.compare_digest(given.encode(), token.encode()):
        raise Wrong(404, "nothing here")
    if asked.method == "POST":
        if not origin or asked.headers.get("content-type", "") != "application/json":
            raise Wrong(403, "not from this page")
    elif asked.method != "GET":
        raise Wrong(405, "only GET and POST")
    return rest


def response(status: int, kind: str, body: bytes, more: Mapping[str, str] | None = None) -> bytes:
    """The bytes of an answer."""
    extra = "".join(f"{name}: {value}\r\n" for name, value in (more or {}).items())
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\n{_HEADERS}{extra}\r\n"
    )
    return head.encode("latin-1") + body
