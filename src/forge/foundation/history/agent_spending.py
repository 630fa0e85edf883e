"""How much of what sessions have cost was the work of which sub-agent, read from their transcripts.

The totals of a session contain its sub-agents. Their transcripts say how many tokens every reply took; what
that cost is computed anew, and is never more than the session has counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from forge.foundation.history.spending import Amount, Spent
from forge.foundation.history.transcript import Record, decode_record

# The price of a reply: who made it (`provider/model`, or only the model) and its usage object.
Price = Callable[[str, dict[str, Any]], float]

_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class Agent(msgspec.Struct, frozen=True):
    """A sub-agent of a session."""

    id: str
    session: str
    kind: str
    description: str
    path: str


def find_agents(transcript: str) -> list[Agent]:
    """The sub-agents of the session with this transcript."""
    session = transcript.removesuffix(".jsonl")
    folder = os.path.join(session, "subagents")
    try:
        names = sorted(n for n in os.listdir(folder) if n.startswith("agent-") and n.endswith(".jsonl"))
    except OSError:
        return []
    return [_agent(os.path.basename(session), os.path.join(folder, name)) for name in names]


def split(rows: list[Spent], agents: list[Agent], price: Price) -> list[Spent]:
    """The rows of sessions with the share of each sub-agent in a row of its own; their sum stays the same."""
    days: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        days.setdefault((row.session, row.model), []).append(row.day)
    shares: dict[tuple[str, str, str], dict[str, Amount]] = {}
    for agent in agents:
        for model, day, amount in _replies(agent.path, price):
            # Totals are written at the end of a turn: they count for that day or a later one.
            counted = min((d for d in days.get((agent.session, model), ()) if d >= day), default=None)
            if counted is not None:
                share = shares.setdefault((agent.session, model, counted), {})
                share[agent.id] = share.get(agent.id, Amount()) + amount
    return [part for row in rows for part in _parts(row, shares.get((row.session, row.model, row.day), {}))]


def _parts(row: Spent, shares: dict[str, Amount]) -> Iterator[Spent]:
    theirs = sum(shares.values(), Amount())
    # Prices may have changed since; what the session has counted is what it has cost.
    scale = row.amount.cost / theirs.cost if theirs.cost > row.amount.cost else 1.0
    for agent, amount in shares.items():
        fair = msgspec.structs.replace(amount, cost=amount.cost * scale)
        yield msgspec.structs.replace(row, amount=fair, agent=agent)
    rest = row.amount - msgspec.structs.replace(theirs, cost=theirs.cost * scale)
    if rest != Amount():
        yield msgspec.structs.replace(row, amount=rest)


def _agent(session: str, path: str) -> Agent:
    meta: Record = {}
    try:
        with open(f"{path.removesuffix('.jsonl')}.meta.json", "rb") as file:
            meta = decode_record(file.read()) or {}
    except OSError:
        pass
    identity = os.path.basename(path).removeprefix("agent-").removesuffix(".jsonl")
    return Agent(identity, session, _text(meta, "agentType") or "unknown", _text(meta, "description"), path)


def _replies(path: str, price: Price) -> Iterator[tuple[str, str, Amount]]:
    """Model, day and amount of every reply in a transcript."""
    seen: set[tuple[str, str]] = set()
    day = ""
    try:
        with open(path, "rb") as lines:
            for line in lines:
                record = decode_record(line) or {}
                day = _text(record, "timestamp")[:10] or day
                usage = _usage(record, seen)
                if usage is not None:
                    made_by = _made_by(record)
                    amount = msgspec.structs.replace(_amount(usage), cost=price(made_by, usage))
                    yield made_by.partition("/")[2] or made_by, day, amount
    except OSError:
        return


def _usage(record: Record, seen: set[tuple[str, str]]) -> dict[str, Any] | None:
    """The usage of a reply; it stands in the record of each of its blocks but counts once."""
    if record.get("type") == "request-usage":
        usage = record.get("usage")
        return usage if isinstance(usage, dict) else None
    message = record.get("message")
    if record.get("type") != "assistant" or not isinstance(message, dict):
        return None
    key = (_text(message, "id"), _text(record, "requestRef") or _text(record, "requestId"))
    again = record.get("apiBlockIndex") != 0 if "apiBlockIndex" in record else key in seen
    seen.add(key)
    usage = message.get("usage")
    return usage if isinstance(usage, dict) and not again else None


def _made_by(record: Record) -> str:
    made_by = _text(record, "madeBy")
    if "/" in made_by:
        return made_by
    message = record.get("message")
    answered = _text(message, "model") if isinstance(message, dict) else ""
    return _text(record, "requestedModel") or answered


def _amount(usage: dict[str, Any]) -> Amount:
    tokens = {name: _count(usage.get(key)) for name, key in _TOKENS.items()}
    served = usage.get("server_tool_use")
    searches = _count(served.get("web_search_requests")) if isinstance(served, dict) else 0
    return Amount(**tokens, web_searches=searches)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
