"""Speaks MCP with a server through the official SDK; only this module and `lines` import it.

The SDK costs more than half a second to import: load this module in a thread and only for a server.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext

from forge.core.mcp.lines import Line, ProcessLine, RemoteLine
from forge.core.mcp.port import Ask, Greeting, Launch, Offer, Question, Reply, Unavailable
from forge.core.mcp.process import GRACE, ServerProcess
from forge.version import VERSION

# What the SDK has to say about a server's mistakes is for the debug log only.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("mcp").propagate = False

CLOSED = "Connection closed"
_MOST_PAGES = 100
_IDENTITY = types.Implementation(name="forge", title="Forge", version=VERSION)


class Spoken:
    """A connection; the task `_holding` enters and leaves all scopes of the SDK."""

    def __init__(self, launch: Launch, line: Line, ask: Ask) -> None:
        self._launch = launch
        self._line = line
        self._ask = ask
        self._client: Client | None = None
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Greeting] = asyncio.get_running_loop().create_future()
        self._holding = asyncio.ensure_future(self._hold())

    @property
    def alive(self) -> bool:
        return not (self._line.ended or self._holding.done())

    @property
    def greeting(self) -> Greeting:
        return self._ready.result()

    async def ready(self) -> None:
        """Returns when the server has said what it offers; Unavailable if it does not."""
        ends: list[asyncio.Future[Any]] = [self._ready, self._holding]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            raise Unavailable(CLOSED)
        self._ready.result()

    async def call(self, tool: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
        """The result of a tool; Unavailable if the server gives none."""
        if self._client is None or not self.alive:
            raise Unavailable(CLOSED)
        meta: Any = {"claudecode/toolUseId": call_id} if call_id else None
        try:
            result = await self._client.call_tool(tool, given, meta=meta)
        except MCPError as error:
            words = self._line.trouble or error.error.message
            raise Unavailable(CLOSED if not self.alive else words) from None
        except (RuntimeError, ValueError, anyio.ClosedResourceError) as error:
            raise Unavailable(str(error) or CLOSED) from None
        told: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return told

    async def close(self, grace: float = GRACE) -> None:
        """Ends the conversation and the process."""
        self._stop.set()
        if self._client is None:
            self._holding.cancel()
        await asyncio.wait([self._holding], timeout=1)
        self._holding.cancel()
        await asyncio.gather(self._holding, return_exceptions=True)
        await self._line.close(grace)
        if self._ready.done():
            self._ready.exception()  # nobody may have looked at it

    async def _hold(self) -> None:
        try:
            async with Client(
                self._line.open(),
                elicitation_callback=self._elicit,
                list_roots_callback=self._roots,
                client_info=_IDENTITY,
                cache=None,
            ) as client:
                self._ready.set_result(await _greeting(client))
                self._client = client
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - a server can make the SDK fail in any way, in groups too
            if not self._ready.done():
                self._ready.set_exception(Unavailable(self._line.trouble or _reason(error)))
        finally:
            self._client = None

    async def _elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        told = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        question = Question(
            self._launch.name,
            params.message,
            str(told.get("mode", "form")),
            told.get("requestedSchema"),
            str(told.get("url", "")),
            str(told.get("elicitationId", "")),
        )
        return _result(await self._ask(question))

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        root = types.Root.model_validate({"uri": f"file://{quote(self._launch.cwd)}"})
        return types.ListRootsResult(roots=[root])


async def open_spoken(launch: Launch, process: ServerProcess | None, ask: Ask) -> Spoken:
    """A connection over a process that runs, or to an address; Unavailable if nobody says hello."""
    line: Line = RemoteLine(launch) if process is None else ProcessLine(process)
    spoken = Spoken(launch, line, ask)
    try:
        await spoken.ready()
    except Unavailable:
        await spoken.close()
        raise
    except BaseException:
        await asyncio.shield(spoken.close(0))
        raise
    return spoken


async def _greeting(client: Client) -> Greeting:
    offers: list[Offer] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        if client.server_capabilities.tools is None:
            break
        page = await client.list_tools(cursor=cursor)
        offers += [_offer(tool) for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            break
    identity = client.server_info
    named = {} if identity is None else identity.model_dump(by_alias=True, mode="json", exclude_none=True)
    return Greeting(offers, named, client.instructions or "")


def _offer(tool: types.Tool) -> Offer:
    notes = tool.annotations
    annotations = {} if notes is None else notes.model_dump(by_alias=True, mode="json", exclude_none=True)
    title = tool.title or annotations.get("title") or ""
    meta = dict(tool.meta) if tool.meta else {}
    return Offer(tool.name, tool.description or "", tool.input_schema, title, annotations, meta)


def _result(reply: Reply) -> types.ElicitResult:
    action: Any = reply.action if reply.action in ("accept", "decline", "cancel") else "cancel"
    if action == "accept" and reply.content is not None:
        return types.ElicitResult(action=action, content=reply.content)
    return types.ElicitResult(action=action)


def _reason(error: BaseException) -> str:
    """What went wrong in the innermost of nested groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return error.error.message
    return str(error) or type(error).__name__
