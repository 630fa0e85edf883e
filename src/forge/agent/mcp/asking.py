"""A server asks the user something: hooks answer first, then the host program; else it is cancelled."""

from __future__ import annotations

from typing import Any

from forge.agent.hooks.sites import notify
from forge.agent.mcp.servers import Servers
from forge.agent.session import Session
from forge.core.mcp.hosted import Exchange
from forge.core.mcp.port import Ask, Question, Reply, Unavailable
from forge.core.tool import ToolError

ACTIONS = ("accept", "decline", "cancel")


def asker(s: Session) -> Ask:
    """The function that answers the questions of a session's servers."""

    async def ask(question: Question) -> Reply:
        return await answer(s, question)

    return ask


async def answer(s: Session, q: Question) -> Reply:
    """The answer to a question, with all events around it."""
    named = {"mcp_server_name": q.server}
    facts: dict[str, Any] = {"mode": q.mode, **({"elicitation_id": q.id} if q.id else {})}
    asked = {**({"url": q.url} if q.url else {}), **({"requested_schema": q.schema} if q.schema else {})}
    outcome = await s.hooks.fire("Elicitation", **named, message=q.message, **facts, **asked)
    if outcome.blocks:
        return Reply("decline")
    if outcome.action in ACTIONS:
        return Reply(outcome.action, outcome.content)
    reply = await _from_host(s, q)
    given = {} if reply.content is None else {"content": reply.content}
    outcome = await s.hooks.fire("ElicitationResult", **named, **facts, action=reply.action, **given)
    if outcome.blocks:
        reply = Reply("decline")
    elif outcome.action in ACTIONS:
        reply = Reply(outcome.action, reply.content if outcome.content is None else outcome.content)
    await notify(s, "elicitation_response", f'Elicitation response for server "{q.server}": {reply.action}')
    return reply


def exchange(s: Session, name: str) -> Exchange:
    """The function that hands messages to a server inside the host program."""

    async def send(message: dict[str, Any]) -> dict[str, Any]:
        ask = s.keep(Servers).ask_host
        if ask is None:
            raise Unavailable("there is no host program")
        try:
            given = await ask({"subtype": "mcp_message", "server_name": name, "message": message})
        except ToolError as error:
            raise Unavailable(str(error)) from None
        answer = given.get("mcp_response")
        return answer if isinstance(answer, dict) else {}

    return send


async def _from_host(s: Session, q: Question) -> Reply:
    ask = s.keep(Servers).ask_host
    if ask is None:
        return Reply("cancel")
    request: dict[str, Any] = {"subtype": "elicitation", "mcp_server_name": q.server, "message": q.message}
    request["mode"] = q.mode
    if q.schema is not None:
        properties = q.schema.get("properties")
        order = list(properties) if isinstance(properties, dict) else []
        request |= {"requested_schema": q.schema, "property_order": order}
    request |= {key: value for key, value in (("url", q.url), ("elicitation_id", q.id)) if value}
    try:
        given = await ask(request)
    except ToolError:
        return Reply("cancel")
    action, content = given.get("action"), given.get("content")
    if action not in ACTIONS:
        return Reply("cancel")
    return Reply(str(action), content if isinstance(content, dict) else None)
