"""The hook point of the loop and the tool pipeline: what fires there and what an answer may do."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec


class Outcome(msgspec.Struct, frozen=True):
    """The folded answer of all hooks of one event. `verdict` is allow, ask, deny or "" (no opinion)."""

    verdict: str = ""
    reason: str = ""
    updated_input: dict[str, Any] | None = None
    context: list[str] = []
    end_turn: bool = False


NOTHING = Outcome()


class Hooks(Protocol):
    """Runs the hooks of an event and folds their answers."""

    async def fire(self, event: str, **payload: Any) -> Outcome: ...


class NoHooks:
    """No hooks are configured."""

    async def fire(self, event: str, **payload: Any) -> Outcome:
        return NOTHING
