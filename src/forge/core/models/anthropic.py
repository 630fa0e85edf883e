"""The Anthropic Messages API, also as spoken by gateways and other vendors' compatible servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from forge.core.http.client import Response
from forge.core.message import Block, Document, Image, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from forge.core.model import Delta, ModelCard, Options, Request, WebSearch
from forge.core.models.asides import Turn
from forge.core.models.assemble import Assembler
from forge.core.models.endpoint import Endpoint, EventReader
from forge.core.models.history import Memo, loop_start, tidy
from forge.core.models.names import names_back, wire_name
from forge.foundation.errors import ModelError

_VERSION = "2023-06-01"
_PATH = "/v1/messages?beta=true"
_BUDGET = 31_999
_SMALLEST_BUDGET = 1_024


class Extras(msgspec.Struct, frozen=True):
    """Features of a request that some servers refuse; the second try goes without them."""

    thinking: bool = True
    effort: bool = True
    display: bool = True
    betas: bool = True


ALL = Extras()


class AnthropicModel:
    """One model behind a Messages endpoint."""

    def __init__(
        self, card: ModelCard, endpoint: Endpoint, *, device_id: str = "", quirks: tuple[str, ...] = ()
    ) -> None:
        self._card = card
        self._endpoint = endpoint
        self._device_id = device_id
        self._memo: Memo = {}
        self._extras = Extras(betas="no_betas" not in quirks)

    @property
    def card(self) -> ModelCard:
        return self._card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        async with await self._open(request) as response:
            reader = EventReader(response)
            names = names_back(tool.name for tool in request.tools)
            assembler = Assembler(self._card.ref, reader.request_id, names)
            while not assembler.stopped and (events := await reader.next()) is not None:
                for event in events:
                    for delta in assembler.feed(event):
                        yield delta
            await response.settle()
        yield assembler.finish()

    async def close(self) -> None:
        await self._endpoint.close()

    async def _open(self, request: Request) -> Response:
        try:
            return await self._post(request, self._extras)
        except ModelError as error:
            fewer = _fewer(error, self._extras)
            if fewer is None:
                raise
        response = await self._post(request, fewer)
        # It worked without them: do not ask for them again.
        self._extras = fewer
        return response

    async def _post(self, request: Request, extras: Extras) -> Response:
        body = build(request, self._card, extras, device_id=self._device_id, memo=self._memo)
        headers = {"anthropic-version": _VERSION}
        betas = needed_betas(body, self._card) if extras.betas else []
        betas += [name for name in request.options.betas if name not in betas]
        if betas:
            headers["anthropic-beta"] = ",".join(betas)
        return await self._endpoint.post(_PATH, body, headers)


_CONFIG_BETAS = {"effort": "effort-2025-11-24", "task_budget": "task-budgets-2026-03-13"}


def build(
    request: Request, card: ModelCard, extras: Extras = ALL, *, device_id: str = "", memo: Memo | None = None
) -> dict[str, Any]:
    """The request body."""
    options = request.options
    limit = options.max_tokens or card.max_output
    mark = {"type": "ephemeral", "ttl": "1h"} if options.cache_ttl == "1h" else {"type": "ephemeral"}
    turns = tidy(request.messages, card, memo)
    body: dict[str, Any] = {
        "model": card.id,
        "max_tokens": limit,
        "messages": _messages(turns, mark),
        "stream": True,
    }
    system = _system(request.system, mark)
    if system:
        body["system"] = system
    if request.search is not None:
        body |= _searching(request.search, card)
    elif request.tools:
        body["tools"] = [
            {"name": wire_name(t.name), "description": t.description, "input_schema": t.input_schema}
            | ({"defer_loading": True} if t.deferred else {})
            for t in request.tools
        ]
        if options.tool_choice:
            body["tool_choice"] = _tool_choice(options.tool_choice)
    thinking = _thinking(request, card, limit)
    if thinking and extras.thinking and _may_think(thinking, turns):
        if extras.display and options.thinking_display and thinking["type"] != "disabled":
            thinking["display"] = options.thinking_display
        body["thinking"] = thinking
    if extras.effort and (config := _output_config(options, card)):
        body["output_config"] = config
    if device_id or options.session_id:
        user = {"device_id": device_id, "account_uuid": "", "session_id": options.session_id}
        body["metadata"] = {"user_id": msgspec.json.encode(user).decode()}
    return body


def _output_config(options: Options, card: ModelCard) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if effort := options.effort or card.effort:
        config["effort"] = effort
    if options.task_budget:
        config["task_budget"] = {"type": "tokens", "total": options.task_budget}
    return config


def needed_betas(body: Mapping[str, Any], card: ModelCard) -> list[str]:
    """The beta names the features of this body ask for."""
    betas = []
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled" and body.get("tools"):
        betas.append("interleaved-thinking-2025-05-14")
    if thinking.get("display") == "updates":
        betas.append("thinking-display-updates-2026-08-18")
    if any("defer_loading" in tool or tool["name"] == "ToolSearch" for tool in body.get("tools", ())):
        betas.append("advanced-tool-use-2025-11-20")
    config = body.get("output_config") or {}
    betas += [name for key, name in _CONFIG_BETAS.items() if key in config]
    if card.id.startswith("claude-sonnet-4") and card.context_window > 200_000:
        betas.append("context-1m-2025-08-07")
    return betas


def _fewer(error: ModelError, extras: Extras) -> Extras | None:
    """What to leave out after an unexplained 400; None when that cannot be the cause."""
    if error.answer.status != 400 or error.kind != "invalid_request":
        return None
    thinking = extras.thinking and "thinking" not in error.message.lower()
    fewer = Extras(thinking=thinking, effort=False, display=False, betas=False)
    return fewer if fewer != extras else None


def _system(texts: list[str], mark: dict[str, str]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts if text.strip()]
    for block in blocks[-2:]:
        block["cache_control"] = mark
    return blocks


def _messages(turns: list[Turn], mark: dict[str, str]) -> list[Turn | dict[str, Any]]:
    if not turns:
        return []
    *before, last = turns[-1].blocks
    marked = {"role": turns[-1].role, "content": [*before, _marked(last, mark)]}
    return [*turns[:-1], marked]


def _marked(block: Block, mark: dict[str, str]) -> Any:
    """The block with a cache mark; thinking and unknown blocks may not carry one."""
    if not isinstance(block, Text | Image | Document | ToolUse | ToolResult):
        return block
    return {**msgspec.to_builtins(block), "cache_control": mark}


def _thinking(request: Request, card: ModelCard, limit: int) -> dict[str, Any] | None:
    options = request.options
    style = options.thinking or card.thinking
    # A forced call and thinking exclude each other.
    forced = options.tool_choice not in ("", "auto", "none")
    if not style or forced or request.search is not None:
        return None
    if style == "disabled":
        return {"type": "disabled"} if card.thinking else None
    if style == "adaptive" or card.thinking == "adaptive":
        return {"type": "adaptive"}
    budget = min(options.thinking_budget or _BUDGET, limit - 1)
    return {"type": "enabled", "budget_tokens": budget} if budget >= _SMALLEST_BUDGET else None


def _may_think(thinking: dict[str, Any], turns: list[Turn]) -> bool:
    """A tool loop that began without thinking, or with another model's, must end without it."""
    began = loop_start(turns) + 1
    if thinking["type"] != "enabled" or began >= len(turns):
        return True
    return isinstance(turns[began].blocks[0], Thinking | RedactedThinking)


def _searching(search: WebSearch, card: ModelCard) -> dict[str, Any]:
    """The server's own tool; models that think as they like may not be forced to use it."""
    tool: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search"}
    if search.allowed_domains:
        tool["allowed_domains"] = search.allowed_domains
    if search.blocked_domains:
        tool["blocked_domains"] = search.blocked_domains
    forced = card.thinking != "adaptive"
    choice = {"type": "tool", "name": "web_search"} if forced else {"type": "auto"}
    return {"tools": [{**tool, "max_uses": search.max_uses}], "tool_choice": choice}


def _tool_choice(wish: str) -> dict[str, str]:
    if wish in ("auto", "any", "none"):
        return {"type": wish}
    return {"type": "tool", "name": wire_name(wish)}
