"""The two things a session needs from whoever runs it: a place to emit events and someone to ask."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from forge.agent.event import Event
from forge.core.message import ToolUse
from forge.foundation.permissions.situation import Decision


class AskPermission(msgspec.Struct, frozen=True):
    """May this call run? `decision` says why the rules did not settle it and what could be remembered.

    `agent_id` names the sub-agent that wants to run it.
    """

    call: ToolUse
    decision: Decision
    agent_id: str = ""


class Allow(msgspec.Struct, frozen=True):
    """Yes; perhaps with another input, perhaps with rules to remember (in the protocol's shape).

    `kind` is what the host calls the decision, here and in a refusal.
    """

    updated_input: dict[str, Any] | None = None
    updates: list[dict[str, Any]] = []
    kind: str = ""


class Refuse(msgspec.Struct, frozen=True):
    """No. `asked` is false when there was nobody to ask, `why` the kind and the words of the reason for that.

    `interrupt` ends the turn.
    """

    message: str
    asked: bool = True
    interrupt: bool = False
    why: tuple[str, str] | None = None
    kind: str = ""


Question = AskPermission
Answer = Allow | Refuse


class Host(Protocol):
    """Whoever runs a session."""

    def emit(self, event: Event) -> None: ...

    async def ask(self, question: Question) -> Answer: ...
