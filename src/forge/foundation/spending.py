"""Reads from transcripts what sessions have used and cost.

A `cost-state` record holds the totals of its session so far, so what a stretch of work cost is the difference
of two of them; it counts for the day of the entry written before. A forked session begins with the totals of
the one it was forked from, which are not counted twice.
"""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.foundation.transcript import decode_record

_STAMP = re.compile(rb'"timestamp":"(\d{4}-\d\d-\d\d)T')
_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheCreationInputTokens",
}


class Amount(msgspec.Struct, frozen=True):
    """Tokens and money; `input` does not contain cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(getattr(self, f) + getattr(other, f) for f in self.__struct_fields__))

    def __sub__(self, other: Amount) -> Amount:
        return Amount(*(max(0, getattr(self, f) - getattr(other, f)) for f in self.__struct_fields__))


class Spent(msgspec.Struct, frozen=True):
    """What one session used of one model on one day."""

    session: str
    model: str
    day: str
    amount: Amount


Totals = dict[str, Amount]


class _States(msgspec.Struct, frozen=True):
    """The totals a transcript goes through, with their days; `root` is the id of its first entry."""

    session: str
    root: str
    steps: list[tuple[str, Totals]]


def read_spending(paths: list[str]) -> list[Spent]:
    """What the sessions of these transcripts cost, per session, model and day."""
    states = [s for path in paths if (s := _states(path)) is not None]
    families: dict[str, list[_States]] = {}
    for state in states:
        families.setdefault(state.root, []).append(state)
    return [spent for state in states for spent in _spent(state, _inherited(state, families[state.root]))]


def _states(path: str) -> _States | None:
    steps: list[tuple[str, Totals]] = []
    root, day = "", ""
    try:
        with open(path, "rb") as lines:
            for line in lines:
                if b'"cost-state"' in line[:200]:
                    _add_step(steps, line, day)
                elif (stamp := _STAMP.search(line)) is not None:
                    day = stamp[1].decode()
                    root = root or _first(line)
    except OSError:
        return None
    return _States(os.path.basename(path).removesuffix(".jsonl"), root, steps) if steps else None


def _add_step(steps: list[tuple[str, Totals]], line: bytes, day: str) -> None:
    record = decode_record(line) or {}
    models = record.get("modelUsage")
    if record.get("type") == "cost-state" and isinstance(models, dict):
        steps.append((day, {name: _amount(row) for name, row in models.items() if isinstance(row, dict)}))


def _first(line: bytes) -> str:
    record = decode_record(line) or {}
    return str(record["uuid"]) if isinstance(record.get("uuid"), str) else ""


def _inherited(state: _States, family: list[_States]) -> Totals:
    """The totals a fork began with: the largest of its relatives that its own first totals contain."""
    _, first = state.steps[0]
    best: Totals = {}
    for relative in family if state.root else ():
        for _, totals in relative.steps if relative is not state else ():
            if _contains(first, totals) and _cost(totals) > _cost(best):
                best = totals
    return best


def _spent(state: _States, before: Totals) -> list[Spent]:
    found: dict[tuple[str, str], Amount] = {}
    for day, totals in state.steps:
        for model, total in totals.items():
            key = (model, day)
            found[key] = found.get(key, Amount()) + (total - before.get(model, Amount()))
        before = {**before, **totals}
    return [
        Spent(state.session, model, day, amount)
        for (model, day), amount in found.items()
        if amount != Amount()
    ]


def _contains(whole: Totals, part: Totals) -> bool:
    return all(
        getattr(whole.get(model, Amount()), field) >= getattr(amount, field)
        for model, amount in part.items()
        for field in Amount.__struct_fields__
    )


def _cost(totals: Totals) -> tuple[float, int]:
    return sum(a.cost for a in totals.values()), sum(a.input + a.output for a in totals.values())


def _amount(row: dict[str, Any]) -> Amount:
    tokens = {name: int(_number(row.get(key))) for name, key in _TOKENS.items()}
    return Amount(**tokens, cost=_number(row.get("costUSD")))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
