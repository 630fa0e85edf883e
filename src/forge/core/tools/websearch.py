"""WebSearch: asks the search endpoint of the settings (`webSearch`) and lists what it found.

The endpoint gets `GET <endpoint>?q=<query>` and answers `{"results": [{"title", "url", "snippet"}]}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from forge.core.http.client import Client, Timeouts
from forge.core.http.url import split_url
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.errors import ModelError
from forge.version import VERSION

MAX_BYTES = 2 * 1024 * 1024
MAX_RESULTS = 20
SECONDS = 30.0


class Args(msgspec.Struct, frozen=True):
    query: str
    allowed_domains: list[str] = []
    blocked_domains: list[str] = []


class Found(msgspec.Struct, frozen=True):
    url: str
    title: str = ""
    snippet: str = ""


class Answer(msgspec.Struct, frozen=True):
    results: list[Found]


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses filters that contradict each other."""
    if args.allowed_domains and args.blocked_domains:
        raise ToolError("Error: Cannot specify both allowed_domains and blocked_domains in the same request")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Searches and formats what is left after the domain filters."""
    url, headers = _request(args.query, ctx.setting("webSearch", None), ctx.env)
    found = [f for f in (await _ask(url, headers, ctx.env)).results if _wanted(f.url, args)][:MAX_RESULTS]
    links = [{"title": f.title, "url": f.url} for f in found]
    data = {"query": args.query, "results": msgspec.to_builtins(found)}
    if not found:
        return ToolOutput(f'No results for query: "{args.query}"', data)
    listed = "\n\n".join(f"{f.title}\n{f.url}\n{f.snippet}".rstrip() for f in found)
    shown = msgspec.json.encode(links).decode()
    return ToolOutput(f'Web search results for query: "{args.query}"\n\nLinks: {shown}\n\n{listed}', data)


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
