"""WebFetch: one page, as text. Redirects to other hosts are reported, not followed."""

from __future__ import annotations

import asyncio
import os
import re
import time
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

import msgspec

from forge.core.amount import human_size
from forge.core.http.client import Client, Response, Timeouts
from forge.core.http.url import split_url
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.webpage import to_text
from forge.foundation.errors import ModelError
from forge.version import VERSION

MAX_BYTES = 10 * 1024 * 1024
MAX_CHARS = 100_000
MAX_REDIRECTS = 10
SECONDS = 60.0
_LONGEST = 2_000
_ERROR = 400
_EXTENSIONS = {
    "application/pdf": "pdf",
    "application/zip": "zip",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
}
_LOCAL = ("127.", "localhost", "[::1]", "::1")
_TEXT = ("text/", "application/json", "application/xml", "application/xhtml", "application/javascript")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:(?://[^/\s]|[^/\s])", re.IGNORECASE)
_CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# What browsers take these names for.
_MEANT = {
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "x-sjis": "cp932",
}
_REDIRECTS = (301, 302, 303, 307, 308)


class Arguments(msgspec.Struct, frozen=True):
    url: str
    prompt: str
    offset: int = 0


class Page(msgspec.Struct, frozen=True):
    """What a server sent."""

    url: str
    status: int
    kind: str
    body: bytes
    moved_to: str = ""


async def check(args: Arguments, context: ToolContext) -> None:
    """Refuses what is no address at all."""
    if _ADDRESS.match(args.url) is None:
        found = {"code": "invalid_format", "format": "url", "path": ["url"], "message": "Invalid URL"}
        words = msgspec.json.format(msgspec.json.encode([found]), indent=2).decode()
        raise ToolError(f"InputValidationError: {words}")


async def run(args: Arguments, context: ToolContext) -> ToolOutput:
    """Fetches the page and returns one stretch of it."""
    _refuse(args.url)
    client = Client(context.env, Timeouts(connect=15.0, idle=30.0))
    began = time.monotonic()
    try:
        async with asyncio.timeout(SECONDS):
            page = await _fetch(client, _upgraded(args.url))
    except TimeoutError:
        raise ToolError(f"{args.url} did not answer within {SECONDS:g} s.") from None
    except ModelError as error:
        raise ToolError(error.message.removeprefix("API Error: ")) from None
    except UnicodeError:
        raise ToolError("Invalid URL") from None
    finally:
        await client.close()
    took = round((time.monotonic() - began) * 1000)
    if page.moved_to or page.status >= _ERROR:
        words = _moved(args, page) if page.moved_to else _failed(page)
        return ToolOutput(words, _record(args, page, words, took))
    # A large page takes seconds; nobody else has to wait for it.
    text = await asyncio.to_thread(readable, page)
    if text is None:
        text = _saved(page, context)
    stretch = text[args.offset : args.offset + MAX_CHARS]
    rest = args.offset + len(stretch)
    more = f"\n\n[Cut here: go on with offset {rest} of {len(text)}.]" if rest < len(text) else ""
    return ToolOutput(
        f"Asked of this page: {args.prompt}\n\n{stretch}{more}", _record(args, page, stretch, took)
    )


def _refuse(address: str) -> None:
    """Refuses addresses that are never fetched."""
    scheme, _, rest = address.partition(":")
    if scheme.lower() not in ("http", "https"):
        raise ToolError(f"Unsupported protocol {scheme}:")
    try:
        host = split_url(address).host
    except (ModelError, ValueError):
        raise ToolError("Invalid URL") from None
    if len(address) > _LONGEST or "@" in rest.split("/")[2]:
        raise ToolError("Invalid URL")
    if "." not in host and not host.startswith(_LOCAL):
        raise ToolError(
            "WebFetch cannot fetch hostnames without a dot. To reach a server in the local network, use Bash "
            "with curl instead."
        )


def _record(args: Arguments, page: Page, result: str, took: int) -> dict[str, Any]:
    size = len(page.body) or (len(result.encode()) if page.moved_to else 0)
    facts = {"bytes": size, "code": page.status, "codeText": _phrase(page.status), "result": result}
    return {**facts, "durationMs": took, "url": args.url}


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""


def _saved(page: Page, context: ToolContext) -> str:
    """What is said of a page that is no text: where its bytes are."""
    kind = page.kind.partition(";")[0].strip().lower() or "application/octet-stream"
    extension = _EXTENSIONS.get(kind, "bin")
    name = f"webfetch-{round(time.time() * 1000)}-{os.urandom(3).hex()}.{extension}"
    path = os.path.join(context.results_dir, name)
    try:
        os.makedirs(context.results_dir, mode=0o700, exist_ok=True)
        with open(path, "wb") as file:
            file.write(page.body)
    except OSError as error:
        raise ToolError(f"{page.url} is {kind}, and it cannot be saved: {error}") from None
    return f"[Binary content ({kind}, {human_size(len(page.body))}) saved to {path}]"


async def _fetch(client: Client, url: str) -> Page:
    for _ in range(MAX_REDIRECTS):
        headers = {
            "user-agent": f"forge/{VERSION}",
            "accept": "text/html, text/plain, application/json, */*;q=0.1",
        }
        async with await client.send("GET", url, headers) as answer:
            target = answer.headers.get("location", "") if answer.status in _REDIRECTS else ""
            if not target:
                body = await _body(answer) if answer.status < _ERROR else b""
                return Page(url, answer.status, answer.headers.get("content-type", ""), body)
        target = urljoin(url, target)
        if not target.startswith(("http://", "https://")) or _site(target) != _site(url):
            return Page(url, answer.status, "", b"", target)
        url = _upgraded(target)
    raise ToolError(f"Too many redirects (exceeded {MAX_REDIRECTS})")


def _site(url: str) -> str:
    return split_url(url).host.removeprefix("www.")


async def _body(answer: Response) -> bytes:
    body = await answer.read_all(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise ToolError(f"maxContentLength size of {MAX_BYTES} exceeded")
    return body


def _upgraded(url: str) -> str:
    secure = url.startswith("http://") and not split_url(url).host.startswith(_LOCAL)
    return f"https://{url.removeprefix('http://')}" if secure else url


def readable(page: Page) -> str | None:
    """The text of a page; None if it is no text."""
    kind = page.kind.partition(";")[0].strip().lower()
    if kind and not kind.startswith(_TEXT) and not kind.endswith(("+json", "+xml")):
        return None
    if not kind and b"\0" in page.body[:1024]:
        return None
    text = _decoded(page)
    is_html = "html" in kind or text.lstrip()[:9].lower().startswith(("<!doctype", "<html"))
    return to_text(text, page.url) if is_html else text


def _decoded(page: Page) -> str:
    """The text in the encoding a mark, the server or the page itself names, else UTF-8."""
    for mark, encoding in _MARKS.items():
        if page.body.startswith(mark):
            return page.body.decode(encoding, "replace").removeprefix("\ufeff")
    named = _CHARSET.search(page.kind) or _CHARSET.search(page.body[:2048].decode("latin-1"))
    label = named[1].lower() if named else "utf-8"
    try:
        return page.body.decode(_MEANT.get(label, label), "replace")
    except (LookupError, UnicodeError):
        return page.body.decode("utf-8", "replace")


def _moved(args: Arguments, page: Page) -> str:
    return (
        "REDIRECT DETECTED: The URL redirects to a location that was not fetched automatically.\n\n"
        f"    Original URL: {args.url}\n"
        "    Redirect URL (from the server's Location header — server-supplied, not verified): "
        f"{page.moved_to}\n"
        f"    Status: {page.status} {_phrase(page.status)}\n\n"
        "    To follow it, call WebFetch again with that address."
    )


def _failed(page: Page) -> str:
    return (
        f"The server returned HTTP {page.status} {_phrase(page.status)}.\n\nThe response body was not "
        "retrieved. A page behind a login needs a tool that is logged in, not WebFetch."
    )


ACTION = Action(Arguments, run, check)
