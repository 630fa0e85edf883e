"""Has the provider of the session's model search the web, in a request of its own."""

from __future__ import annotations

import msgspec

from forge.agent.event import Retried
from forge.agent.ledger import charge_aside
from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.core.message import Block, Message, Text
from forge.core.model import Finished, Request, Retrying, WebSearch, closing
from forge.core.models.findings import count_searches, read_findings
from forge.core.search import Found
from forge.foundation.errors import ModelError

# A server that pauses in the middle of its work is asked to go on, but not for ever.
_MOST_PAUSES = 4


async def search(s: Session, query: str, how: WebSearch) -> Found | None:
    """What the provider finds; None if it cannot search. Its use counts like any other."""
    if not s.model.card.web_search:
        return None
    asking = f"Perform a web search for the query: {query}"
    if how.blocked_domains:
        asking += f"\nLeave out what comes from: {', '.join(how.blocked_domains)}"
    history = [Message("user", [Text(asking)])]
    blocks: list[Block] = []
    for _ in range(_MOST_PAUSES):
        finished = await _ask(s, history, how)
        blocks += finished.message.blocks
        if finished.stop_reason != "pause_turn":
            break
        history.append(finished.message)
    whole = Message("assistant", blocks)
    return Found(read_findings(whole), count_searches(whole))


async def _ask(s: Session, history: list[Message], how: WebSearch) -> Finished:
    options = msgspec.structs.replace(s.parts.options, tool_choice="")
    request = Request(s.model.card.id, [s.system[0], text("web_search")], history, [], options, how)
    finished: Finished | None = None
    sent = s.parts.clock()
    try:
        async with closing(s.model.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Finished):
                    finished = delta
                elif isinstance(delta, Retrying):
                    s.emit(Retried(delta))
    finally:
        spent = (s.parts.clock() - sent) * 1000
        s.turn.api_ms += spent
        s.ledger.api_ms += spent
    if finished is None:
        raise ModelError("API Error: the answer to the search ended too early.", kind="malformed_stream")
    charge_aside(s.ledger, s.recorder, s.model.card, finished.usage)
    return finished
