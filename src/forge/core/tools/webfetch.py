"""WebFetch: one page, as text. Redirects to other hosts are reported, not followed."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urljoin

import msgspec

from forge.core.http.client import Client, Response, Timeouts
from forge.core.http.url import split_url
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.webpage import to_text
from forge.foundation.errors import ModelError
from forge.version import VERSION

MAX_BYTES = 10 * 1024 * 1024
MAX_CHARS = 100_000
MAX_REDIRECTS = 5
SECONDS = 60.0
_LOCAL = ("127.", "localhost", "[::1]", "::1")
_TEXT = ("text/", "application/json", "application/xml", "application/xhtml", "application/javascript")
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
    """Refuses addresses that can never be fetched."""
    try:
        url = split_url(args.url)
    except (ModelError, ValueError):
        raise ToolError(f"Invalid URL: {args.url}") from None
    if url.scheme not in ("http", "https") or ("." not in url.host and not url.host.startswith(_LOCAL)):
        raise ToolError(f"Invalid URL: {args.url}")


async def run(args: Arguments, context: ToolContext) -> ToolOutput:
    """Fetches the page and returns one stretch of it."""
    client = Client(context.env, Timeouts(connect=15.0, idle=30.0))
    try:
        async with asyncio.timeout(SECONDS):
            page = await _fetch(client, _upgraded(args.url))
    except TimeoutError:
        raise ToolError(f"{args.url} did not answer within {SECONDS:g} s.") from None
    except ModelError as error:
        raise ToolError(error.message.removeprefix("API Error: ")) from None
    finally:
        await client.close()
    if page.moved_to:
        return _moved(args, page)
    # A large page takes seconds; nobody else has to wait for it.
    text = await asyncio.to_thread(_readable, page)
    stretch = text[args.offset : args.offset + MAX_CHARS]
    rest = args.offset + len(stretch)
    more = f"\n\n[Cut here: go on with offset {rest} of {len(text)}.]" if rest < len(text) else ""
    data = {"url": page.url, "code": page.status, "bytes": len(page.body), "result": stretch}
    return ToolOutput(f"Asked of this page: {args.prompt}\n\n{stretch}{more}", data)


async def _fetch(client: Client, url: str) -> Page:
    for _ in range(MAX_REDIRECTS):
        headers = {
            "user-agent": f"forge/{VERSION}",
            "accept": "text/html, text/plain, application/json, */*;q=0.1",
        }
        async with await client.send("GET", url, headers) as answer:
            target = answer.headers.get("location", "") if answer.status in _REDIRECTS else ""
            if not target:
                return Page(
                    url, answer.status, answer.headers.get("content-type", ""), await _body(answer, url)
                )
        target = urljoin(url, target)
        if not target.startswith(("http://", "https://")) or split_url(target).host != split_url(url).host:
            return Page(url, answer.status, "", b"", target)
        url = _upgraded(target)
    raise ToolError(f"{url} redirects more than {MAX_REDIRECTS} times.")


async def _body(answer: Response, url: str) -> bytes:
    body = await answer.read_all(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise ToolError(f"{url} is larger than {MAX_BYTES // 1024 // 1024} MB.")
    return body


def _upgraded(url: str) -> str:
    secure = url.startswith("http://") and not split_url(url).host.startswith(_LOCAL)
    return f"https://{url.removeprefix('http://')}" if secure else url


def _readable(page: Page) -> str:
    kind = page.kind.partition(";")[0].strip().lower()
    if page.status >= 400:
        raise ToolError(f"{page.url} answered with status {page.status}.")
    if kind and not kind.startswith(_TEXT) and not kind.endswith(("+json", "+xml")):
        raise ToolError(f"{page.url} is {kind}, which cannot be read as text.")
    if not kind and b"\0" in page.body[:1024]:
        raise ToolError(f"{page.url} cannot be read as text.")
    text = _decoded(page)
    return (
        to_text(text)
        if "html" in kind or text.lstrip()[:9].lower().startswith(("<!doctype", "<html"))
        else text
    )


def _decoded(page: Page) -> str:
    """The text in the encoding the server names, else UTF-8."""
    named = re.search(r"charset=[\"']?([\w-]+)", page.kind, re.IGNORECASE)
    try:
        return page.body.decode(named[1] if named else "utf-8", "replace")
    except (LookupError, UnicodeError):
        return page.body.decode("utf-8", "replace")


def _moved(args: Arguments, page: Page) -> ToolOutput:
    words = (
        f"{page.url} redirects to another host: {page.moved_to}\nFetch that address if you want to follow it."
    )
    return ToolOutput(words, {"url": page.url, "code": page.status, "redirect": page.moved_to})


ACTION = Action(Arguments, run, check)
