"""Sends failed requests again, and asks the next model when one stays unavailable."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import msgspec

from forge.core.http.unreachable import REFUSED
from forge.core.message import ToolResult, ToolUse
from forge.core.model import BlockFinished, Delta, Model, ModelCard, Request, Retrying, Switch, closing
from forge.foundation.errors import ModelError

_FIRST_SECONDS, _LONGEST_SECONDS, _JITTER = 0.5, 60.0, 0.25
# A server that wants more patience than this has in effect said no.
_LONGEST_WISH_SECONDS = 900.0
# Nothing listens there: long enough for a restart, not for a coffee.
_REFUSED_RETRIES = 3
_OVERLOADED_ATTEMPTS = 3


class Patience(msgspec.Struct, frozen=True):
    """How often to try again; `overloaded` limits it for an overloaded server that has a stand-in."""

    max_retries: int = 10
    overloaded: int = 10

    @staticmethod
    def of(env: Mapping[str, str], *, last: bool = True) -> Patience:
        """From CLAUDE_CODE_MAX_RETRIES; `last` when no other model can take over."""
        wish = env.get("CLAUDE_CODE_MAX_RETRIES", "").strip()
        retries = int(wish) if wish.isdecimal() else 10
        return Patience(retries, retries if last else min(retries, _OVERLOADED_ATTEMPTS - 1))

    def retries(self, error: ModelError) -> int:
        """Retries this failure is worth."""
        if not error.retryable or (error.answer.retry_after or 0) > _LONGEST_WISH_SECONDS:
            return 0
        if error.answer.error_type == REFUSED:
            return min(self.max_retries, _REFUSED_RETRIES)
        return self.overloaded if error.kind == "overloaded" else self.max_retries


class RetryingModel:
    """Announces each new try by a `Retrying` delta, after which everything streamed before is void."""

    def __init__(
        self,
        model: Model,
        patience: Patience,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = lambda: os.urandom(1)[0] / 256,
    ) -> None:
        self._model = model
        self._patience = patience
        self._sleep = sleep
        self._chance = chance

    @property
    def card(self) -> ModelCard:
        return self._model.card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        attempt = 0
        while True:
            committed = False
            try:
                async with closing(self._model.stream(request)) as deltas:
                    async for delta in deltas:
                        # From here on a tool may be running: its call must not be thrown away.
                        committed |= isinstance(delta, BlockFinished) and isinstance(delta.block, ToolUse)
                        yield delta
                return
            except ModelError as error:
                attempt += 1
                retries = self._patience.retries(error)
                if committed or attempt > retries:
                    raise
                delay = self._delay(attempt, error.answer.retry_after)
                failed = error
            yield Retrying(attempt, retries, delay * 1000, failed.answer.status, failed.kind, failed.message)
            await self._sleep(delay)

    async def close(self) -> None:
        await self._model.close()

    def _delay(self, attempt: int, wish: float | None) -> float:
        if wish:
            return wish
        pause = _FIRST_SECONDS * 2.0 ** min(attempt - 1, 10)
        return min(pause * (1 + _JITTER * self._chance()), _LONGEST_SECONDS)


class FallbackModel:
    """The first model that works, in order.

    A switch is announced by a `Retrying` delta of kind "fallback" whose message names the new model; it lasts
    until the next prompt of the user, for which the first model is tried again.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = models
        self._active = 0

    @property
    def card(self) -> ModelCard:
        """The card of the model that answers now."""
        return self._models[self._active].card

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if not any(isinstance(b, ToolResult) for b in request.messages[-1].blocks):
            self._active = 0
        while True:
            committed = False
            try:
                async with closing(self._models[self._active].stream(request)) as deltas:
                    async for delta in deltas:
                        committed |= isinstance(delta, BlockFinished) and isinstance(delta.block, ToolUse)
                        yield delta
                return
            except ModelError as error:
                if committed or error.kind not in _REPLACEABLE or self._active + 1 >= len(self._models):
                    raise
                failed = error
            before = self.card
            self._active += 1
            names = before.label or before.id, self.card.label or self.card.id
            why = f"due to high demand for {names[0]}" if failed.kind == "overloaded" else ""
            text = f"Switched to {names[1]} {why or f'because {names[0]} is not available ({failed.kind})'}"
            switch = Switch(failed.kind, before.id, self.card.id)
            yield Retrying(1, len(self._models) - 1, 0.0, failed.answer.status, "fallback", text, switch)

    async def close(self) -> None:
        for model in self._models:
            await model.close()


_REPLACEABLE = frozenset({"overloaded", "model_not_found", "server_error", "connection", "rate_limit"})
