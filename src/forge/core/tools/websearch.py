"""WebSearch: has the model's provider search, or asks the search endpoint of the settings (`webSearch`).

The endpoint gets `GET <endpoint>?q=<query>` and answers `{"results": [{"title", "url", "snippet"}]}`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from forge.core.http.client import Client, Timeouts
from forge.core.http.url import split_url
from forge.core.model import WebSearch
from forge.core.search import Found, Link, Links, Searcher
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.errors import ModelError
from forge.version import VERSION

MAX_BYTES = 2 * 1024 * 1024
MAX_RESULTS = 20
SECONDS = 30.0
_REMINDER = "\nName the sources you rely on in your answer, as Markdown links."


class Args(msgspec.Struct, frozen=True):
    query: str
    allowed_domains: list[str] = []
    blocked_domains: list[str] = []


class Hit(msgspec.Struct, frozen=True):
    url: str
    title: str = ""
    snippet: str = ""


class Answer(msgspec.Struct, frozen=True):
    results: list[Hit]


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses filters that contradict each other."""
    if args.allowed_domains and args.blocked_domains:
        raise ToolError("Error: Cannot specify both allowed_domains and blocked_domains in the same request")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Searches; the endpoint is asked only if the provider cannot search."""
    started = time.monotonic()
    how = WebSearch(args.allowed_domains, args.blocked_domains)
    try:
        found = await ctx.keep(Searcher).ask(args.query, how)
    except ModelError as error:
        raise ToolError(error.message) from None
    if found is None:
        return await _ask_endpoint(args, ctx)
    return _told(args, found, time.monotonic() - started)


def _told(args: Args, found: Found, seconds: float) -> ToolOutput:
    results = [f if isinstance(f, str) else _filtered(f, args) for f in found.results]
    parts = [f if isinstance(f, str) else _line(f.content) for f in results]
    head = f'Web search results for query: "{args.query}"'
    data = {
        "query": args.query,
        "results": msgspec.to_builtins(results),
        "durationSeconds": seconds,
        "searchCount": found.searches,
    }
    return ToolOutput("\n\n".join([head, *parts, _REMINDER]), data)


def _filtered(links: Links, args: Args) -> Links:
    """Not every provider heeds the filters."""
    return Links(links.tool_use_id, [link for link in links.content if _wanted(link.url, args)])


def _line(links: list[Link]) -> str:
    return f"Links: {msgspec.json.encode(links).decode()}" if links else "No links found."


async def _ask_endpoint(args: Args, ctx: ToolContext) -> ToolOutput:
    """Asks the endpoint and formats what is left after the domain filters."""
    if ctx.setting("airGap", False):
        raise ToolError("The provider of this model cannot search, and airGap forbids to ask anybody else.")
    url, headers = _request(args.query, ctx.setting("webSearch", None), ctx.env)
    found = [f for f in (await _ask(url, headers, ctx.env)).results if _wanted(f.url, args)][:MAX_RESULTS]
    links = [Link(f.title, f.url) for f in found]
    data = {"query": args.query, "results": msgspec.to_builtins(found)}
    if not found:
        return ToolOutput(f'No results for query: "{args.query}"', data)
    listed = "\n\n".join(f"{f.title}\n{f.url}\n{f.snippet}".rstrip() for f in found)
    return ToolOutput(f'Web search results for query: "{args.query}"\n\n{_line(links)}\n\n{listed}', data)


def _request(query: str, chosen: Any, env: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    endpoint = chosen.get("endpoint") if isinstance(chosen, dict) else None
    if not isinstance(endpoint, str) or not endpoint:
        raise ToolError("No search endpoint is configured: set webSearch.endpoint in the settings.")
    headers = {"user-agent": f"forge/{VERSION}", "accept": "application/json"}
    if variable := chosen.get("apiKeyEnv"):
        headers["authorization"] = f"Bearer {_key(str(variable), endpoint, env)}"
    mark = "&" if "?" in endpoint else "?"
    return f"{endpoint}{mark}q={quote(query, safe='')}", headers


def _key(variable: str, endpoint: str, env: Mapping[str, str]) -> str:
    # A settings file that came with a project must not be able to send any other secret anywhere.
    if "SEARCH" not in variable.upper():
        raise ToolError(f"webSearch.apiKeyEnv must name a variable with SEARCH in its name, not {variable}.")
    url = split_url(endpoint)
    if url.scheme != "https" and not _is_local(url.host):
        raise ToolError("webSearch.endpoint must be an https address, because a key is sent to it.")
    key = env.get(variable)
    if not key:
        raise ToolError(f"The variable {variable} (webSearch.apiKeyEnv in the settings) is not set.")
    return key


def _is_local(host: str) -> bool:
    numeric = host.startswith("127.") and host.replace(".", "").isdigit()
    return numeric or host in ("localhost", "::1", "[::1]")


async def _ask(url: str, headers: dict[str, str], env: Mapping[str, str]) -> Answer:
    host = split_url(url).host
    client = Client(env, Timeouts(connect=15.0, idle=30.0))
    try:
        async with asyncio.timeout(SECONDS), await client.send("GET", url, headers) as answer:
            body = await answer.read_all(MAX_BYTES + 1)
            status = answer.status
    except TimeoutError:
        raise ToolError(f"The search endpoint {host} did not answer within {SECONDS:g} s.") from None
    except ModelError as error:
        raise ToolError(error.message.removeprefix("API Error: ")) from None
    finally:
        await client.close()
    if status != 200:
        raise ToolError(f"The search endpoint {host} answered with status {status}.")
    if len(body) > MAX_BYTES:
        raise ToolError(f"The answer of the search endpoint {host} is larger than 2 MB.")
    try:
        return msgspec.json.decode(body, type=Answer)
    except msgspec.MsgspecError as error:
        raise ToolError(
            f"The search endpoint {host} did not answer with "
            f'{{"results": [{{"title", "url", "snippet"}}]}}: {error}'
        ) from None


def _wanted(url: str, args: Args) -> bool:
    try:
        host = split_url(url).host.lower()
    except (ModelError, ValueError):
        return False
    if args.allowed_domains:
        return _within(host, args.allowed_domains)
    return not _within(host, args.blocked_domains)


def _within(host: str, domains: list[str]) -> bool:
    """A domain stands for itself and everything below it."""
    names = [domain.lower().strip().lstrip("*").strip(".") for domain in domains]
    return any(host == name or host.endswith(f".{name}") for name in names if name)


ACTION: Action[Args] = Action(Args, run, check)
