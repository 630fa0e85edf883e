"""What the session has used and cost, per model."""

from __future__ import annotations

from typing import Any

from forge.agent.event import ModelSpend
from forge.agent.record import Recorder
from forge.core.message import Usage
from forge.core.model import ModelCard

# Figures of the reference's record that Forge does not keep; without them it would not read the record.
_FOREIGN = (
    "totalAPIDurationWithoutRetries",
    "totalToolDuration",
    "totalLinesAdded",
    "totalLinesRemoved",
    "totalDuration",
    "startTime",
)


class Ledger:
    """Adds up usage and cost; carries on from a resumed session's totals."""

    def __init__(self) -> None:
        self.spent: dict[str, ModelSpend] = {}
        self.cards: dict[str, ModelCard] = {}
        self.api_ms = 0.0
        # What conversations of this process have cost that were cleared away.
        self._earlier = 0.0
        # What the conversation had cost before this process went on with it.
        self._inherited = 0.0
        self._foreign = dict.fromkeys(_FOREIGN, 0)

    def begin_anew(self) -> None:
        """Starts from zero for another conversation; what was spent still counts against the cap."""
        self._earlier, self._inherited = self.spent_here, 0.0
        self.spent, self.api_ms = {}, 0.0
        self._foreign = dict.fromkeys(_FOREIGN, 0)

    @property
    def cost(self) -> float:
        return sum(s.cost for s in self.spent.values())

    @property
    def spent_here(self) -> float:
        """What this process has spent, whatever became of its conversations: the cap is for one run."""
        return self._earlier + self.cost - self._inherited

    def add(self, card: ModelCard, usage: Usage, cost: float | None = None) -> None:
        """One more reply; `cost` if the provider has said what it was, else the card's prices count."""
        before = self.spent.get(card.id, ModelSpend(Usage(), 0.0))
        self.cards[card.id] = card
        added = card.cost(usage) if cost is None else cost
        self.spent[card.id] = ModelSpend(before.usage + usage, before.cost + added)

    def surprises(self, card: ModelCard, cost: float | None) -> bool:
        """Whether this is the first reply of a model whose price nobody knows."""
        return card.price is None and cost is None and card.id not in self.cards

    def snapshot(self) -> dict[str, ModelSpend]:
        return dict(self.spent)

    def restore(self, state: dict[str, Any]) -> None:
        """Takes over the totals of a `cost-state` record."""
        models = state.get("modelUsage")
        if not isinstance(models, dict):
            return
        for name, row in models.items():
            if isinstance(row, dict):
                self.spent[name] = ModelSpend(_usage(row), _number(row, "costUSD"))
        self._inherited = self.cost
        self.api_ms = _number(state, "totalAPIDuration")
        self._foreign = {key: round(_number(state, key)) for key in _FOREIGN}

    def state(self) -> dict[str, Any]:
        """The totals as a `cost-state` record has them."""
        return {
            "totalCostUSD": round(self.cost, 10),
            "totalAPIDuration": round(self.api_ms),
            **self._foreign,
            "modelUsage": {name: _row(s) for name, s in self.spent.items()},
        }


def charge_aside(
    ledger: Ledger, recorder: Recorder, card: ModelCard, usage: Usage, cost: float | None = None
) -> None:
    """Adds a request that leaves no message behind; a sub-agent's share is read from its own transcript."""
    ledger.add(card, usage, cost)
    if recorder.stamp.agent_id:
        recorder.side("request-usage", madeBy=card.ref, usage=usage_record(usage))


def usage_record(u: Usage) -> dict[str, Any]:
    """Usage as results and transcripts of the reference have it."""
    return {
        "input_tokens": u.input,
        "cache_creation_input_tokens": u.cache_write,
        "cache_read_input_tokens": u.cache_read,
        "output_tokens": u.output,
        "output_tokens_details": {"thinking_tokens": u.reasoning},
        "server_tool_use": {"web_search_requests": u.web_searches, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {
            "ephemeral_1h_input_tokens": u.cache_write_1h,
            "ephemeral_5m_input_tokens": u.cache_write - u.cache_write_1h,
        },
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    }


def _row(spend: ModelSpend) -> dict[str, Any]:
    u = spend.usage
    return {
        "inputTokens": u.input,
        "outputTokens": u.output,
        "thinkingTokens": u.reasoning,
        "cacheReadInputTokens": u.cache_read,
        "cacheCreationInputTokens": u.cache_write,
        "cacheCreationEphemeral5mInputTokens": u.cache_write - u.cache_write_1h,
        "cacheCreationEphemeral1hInputTokens": u.cache_write_1h,
        "webSearchRequests": u.web_searches,
        "costUSD": round(spend.cost, 10),
    }


def _usage(row: dict[str, Any]) -> Usage:
    return Usage(
        input=int(_number(row, "inputTokens")),
        output=int(_number(row, "outputTokens")),
        cache_read=int(_number(row, "cacheReadInputTokens")),
        cache_write=int(_number(row, "cacheCreationInputTokens")),
        cache_write_1h=int(_number(row, "cacheCreationEphemeral1hInputTokens")),
        reasoning=int(_number(row, "thinkingTokens")),
        web_searches=int(_number(row, "webSearchRequests")),
    )


def _number(row: dict[str, Any], key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else 0.0
