"""Reads from transcripts what sessions have used and cost.

A `cost-state` record holds the totals of its session so far, so what a stretch of work cost is the difference
of two of them; it counts for the day of the entry written before. A forked session begins with the totals of
the one it was forked from, which are not counted twice.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

import msgspec

from forge.foundation.history.transcript import decode_record

_UUID = re.compile(rb'"uuid":"([^"]+)"')
_STAMP = re.compile(rb'"timestamp":"(\d{4}-\d\d-\d\d)T')
_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheCreationInputTokens",
    "web_searches": "webSearchRequests",
}


class Amount(msgspec.Struct, frozen=True):
    """Tokens and money; `input` does not contain cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    web_searches: int = 0
    cost: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(getattr(self, f) + getattr(other, f) for f in self.__struct_fields__))

    def __sub__(self, other: Amount) -> Amount:
        return Amount(*(max(0, getattr(self, f) - getattr(other, f)) for f in self.__struct_fields__))


class Spent(msgspec.Struct, frozen=True):
    """What one session used of one model on one day; `agent` is the id of a sub-agent, "" the rest of it."""

    session: str
    model: str
    day: str
    amount: Amount
    agent: str = ""


Totals = dict[str, Amount]


class _Step(msgspec.Struct, frozen=True):
    """The totals at one moment, its day, and the last entry before it."""

    day: str
    entry: str
    totals: Totals


class _States(msgspec.Struct, frozen=True):
    """The totals a transcript goes through; `root` is the id of its first entry."""

    path: str
    root: str
    steps: list[_Step]


def read_spending(paths: list[str]) -> list[Spent]:
    """What the sessions of these transcripts cost, per session, model and day."""
    families: dict[str, list[_States]] = {}
    for path in paths:
        states = _states(path)
        if states is not None:
            families.setdefault(states.root or path, []).append(states)
    return [
        spent
        for family in families.values()
        for n, states in enumerate(family)
        for spent in _spent(states, _inherited(n, family))
    ]


def _states(path: str) -> _States | None:
    steps: list[_Step] = []
    root, day, last = "", "", b""
    try:
        with open(path, "rb") as lines:
            for line in lines:
                if b'"cost-state"' in line[:200]:
                    _add_step(steps, line, day, last)
                elif (stamp := _STAMP.search(line)) is not None:
                    day, last = stamp[1].decode(), line
                    root = root or _entry(line)
    except OSError:
        return None
    return _States(path, root, steps) if steps else None


def _add_step(steps: list[_Step], line: bytes, day: str, last: bytes) -> None:
    record = decode_record(line) or {}
    models = record.get("modelUsage")
    if record.get("type") == "cost-state" and isinstance(models, dict):
        totals = {name: _amount(row) for name, row in models.items() if isinstance(row, dict)}
        steps.append(_Step(day, _entry(last), totals))


def _entry(line: bytes) -> str:
    uuid = (decode_record(line) or {}).get("uuid")
    return uuid if isinstance(uuid, str) else ""


def _inherited(place: int, family: list[_States]) -> Totals:
    """The totals a fork began with: the latest of a relative's whose entries it has copied."""
    own = family[place]
    if len(family) == 1:
        return {}
    copied = _entries_before_first_state(own.path)
    best: Totals = {}
    for n, relative in enumerate(family):
        for step in relative.steps if n != place else ():
            # Two files that are the same up to here are copies: the first one counts.
            twin = step.entry == own.steps[0].entry and n > place
            if step.entry in copied and not twin and _cost(step.totals) > _cost(best):
                best = step.totals
    return best


def _entries_before_first_state(path: str) -> set[str]:
    found: set[str] = set()
    with suppress(OSError), open(path, "rb") as lines:
        for line in lines:
            if b'"cost-state"' in line[:200]:
                break
            found.update(uuid.decode("utf-8", "replace") for uuid in _UUID.findall(line))
    return found


def _spent(states: _States, before: Totals) -> list[Spent]:
    session = os.path.basename(states.path).removesuffix(".jsonl")
    found: dict[tuple[str, str], Amount] = {}
    for step in states.steps:
        for model, total in step.totals.items():
            key = (model, step.day)
            found[key] = found.get(key, Amount()) + (total - before.get(model, Amount()))
        before = {**before, **step.totals}
    return [Spent(session, *key, amount) for key, amount in found.items() if amount != Amount()]


def _cost(totals: Totals) -> tuple[float, int]:
    return sum(a.cost for a in totals.values()), sum(a.input + a.output for a in totals.values())


def _amount(row: dict[str, Any]) -> Amount:
    tokens = {name: int(_number(row.get(key))) for name, key in _TOKENS.items()}
    return Amount(**tokens, cost=_number(row.get("costUSD")))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
