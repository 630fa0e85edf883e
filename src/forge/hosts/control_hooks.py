"""Hooks over the control connection: functions of the host program, and switches of the model."""

from __future__ import annotations

import asyncio
from typing import Any

from forge.agent.hooks.hook import Hook
from forge.agent.hooks.lending import engine_of
from forge.agent.hooks.sites import tell
from forge.agent.session import Session
from forge.core.models.catalog import resolve
from forge.core.tool import ToolError
from forge.foundation.errors import ForgeError
from forge.foundation.hookspec import EVENTS
from forge.foundation.origin import Origin, Scope
from forge.hosts.control_seat import Refused, Request, Seat
from forge.hosts.sink import Sink

CLOSED = "Stream closed"
BLOCKED = "Model switch blocked by a PreModelSwitch hook: "
_SWITCHES = ("PreModelSwitch", "PostModelSwitch")


class HookCalls:
    """Calls of functions of the host that wait for their answers."""

    def __init__(self, session: Session, sink: Sink) -> None:
        self._session, self._sink = session, sink
        self._open: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._withdrawn: set[str] = set()
        self._closed = False

    async def call(self, callback_id: str, payload: dict[str, Any], tool_use_id: str) -> dict[str, Any]:
        """What the function answers; ToolError if it failed or nobody is there any more."""
        request = {"subtype": "hook_callback", "callback_id": callback_id, "input": payload}
        if tool_use_id:
            request["tool_use_id"] = tool_use_id
        return await self.ask(request)

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the host answers to any request; ToolError as for a function."""
        if self._closed:
            raise ToolError(CLOSED)
        request_id = self._session.parts.new_id()
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[request_id] = answer
        if request["subtype"] == "mcp_message":
            self._withdrawn.add(request_id)  # a server of the host hears of it in its own words
        self._sink.record({"type": "control_request", "request_id": request_id, "request": request})
        try:
            return await answer
        except asyncio.CancelledError:
            self._withdraw(request_id)
            raise
        finally:
            self._open.pop(request_id, None)
            self._withdrawn.discard(request_id)

    def answered(self, response: dict[str, Any]) -> bool:
        """Takes an answer of the host; false if it belongs to something else."""
        waiting = self._open.get(str(response.get("request_id")))
        if waiting is None or waiting.done():
            return False
        body = response.get("response")
        if response.get("subtype") == "success":
            waiting.set_result(body if isinstance(body, dict) else {})
        else:
            waiting.set_exception(ToolError(str(response.get("error") or "the host gave no reason")))
        return True

    def withdraw(self) -> None:
        """The turn is being stopped: the host need not answer any more."""
        for request_id in self._open:
            self._withdraw(request_id)

    def _withdraw(self, request_id: str) -> None:
        if request_id not in self._withdrawn:
            self._withdrawn.add(request_id)
            self._sink.record({"type": "control_cancel_request", "request_id": request_id})

    def close(self) -> None:
        """The host has gone."""
        self._closed = True
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ToolError(CLOSED))


def take_hooks(seat: Seat, request: Request) -> None:
    """Takes the hooks of an `initialize` request in place of earlier ones; Refused if they could not run."""
    given = request.get("hooks")
    if not given:
        return
    engine = engine_of(seat.session)
    if engine is None or not isinstance(given, dict):
        raise Refused("hooks must be an object: event name → list of matchers", "invalid_hooks")
    unknown = [event for event in given if event not in EVENTS]
    if unknown:
        raise Refused(f"Unknown hook events: {', '.join(unknown)}", "invalid_hooks")
    seat.forget_hooks()
    found = [hook for event, groups in given.items() for hook in _hooks(event, groups)]
    seat.forget_hooks = engine.add_hooks(found)


def _hooks(event: str, groups: Any) -> list[Hook]:
    found = []
    for group in groups if isinstance(groups, list) else ():
        fields = {key: group[key] for key in ("timeout", "onFailure") if group.get(key) is not None}
        matcher = group.get("matcher") or ""
        for callback_id in group.get("hookCallbackIds") or ():
            origin = Origin(Scope.SESSION, "host program")
            found.append(Hook(event, str(matcher), "callback", {"id": callback_id, **fields}, origin))
    return found


def concerns_hooks(seat: Seat, request: Request) -> bool:
    """Whether hooks want to be asked about a request."""
    engine = engine_of(seat.session)
    return request.get("subtype") == "set_model" and any(
        engine is not None and engine.hooks(event) for event in _SWITCHES
    )


async def before_switch(seat: Seat, request: Request) -> dict[str, Any] | None:
    """PreModelSwitch: the facts of the switch for later, None if there is nothing to switch; or Refused."""
    facts = _facts(seat, request)
    if facts is None:
        return None
    outcome = await seat.session.hooks.fire("PreModelSwitch", **facts)
    if outcome.verdict in ("deny", "ask", "defer"):
        raise Refused(BLOCKED + outcome.reason, "blocked_by_hook")
    return facts


async def after_switch(seat: Seat, facts: dict[str, Any]) -> None:
    """PostModelSwitch: what hooks say to it reaches the model with the next message."""
    outcome = await seat.session.hooks.fire("PostModelSwitch", **facts)
    tell(seat.session, outcome.told)


def _facts(seat: Seat, request: Request) -> dict[str, Any] | None:
    session, wanted = seat.session, request.get("model")
    name = wanted if isinstance(wanted, str) and wanted and wanted != "default" else None
    try:
        card = resolve(name, seat.c.env, seat.c.settings.get).card
    except ForgeError:
        return None
    tokens = session.context_tokens
    price = card.price
    cost = round(tokens * price.cache_write / 1_000_000, 4) if price is not None and tokens else 0
    return {
        "from_model": session.model.card.id,
        "to_model": card.id,
        "requested_model": name or "default",
        "source": "sdk",
        "context_tokens": tokens,
        "prompt_cache_warm": tokens > 0,
        "cache_ttl": session.parts.options.cache_ttl or "5m",
        "estimated_cache_write_usd": cost,
        "pricing": "catalog",
    }
