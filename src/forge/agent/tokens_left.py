"""Models that keep an eye on their budget are told what is left of it, as the reference tells them."""

from __future__ import annotations

from forge.agent.session import Reminder, Session
from forge.agent.team.crew import Seat
from forge.core.message import Aside, Block, ToolResult

KIND = "total_tokens_reminder"
BUDGET = 15_000_000


class Used:
    """How far the context has grown since the session was opened."""

    def __init__(self) -> None:
        self.start: int | None = None
        self.most = 0


def opening_tokens(s: Session) -> list[Reminder]:
    """What a prompt comes with, once before each reply; sub-agents hear of it only after calls."""
    told = bool(s.messages) and s.messages[-1].role == "user"
    if told or not s.model.card.counts_tokens or s.keep(Seat).depth:
        return []
    words = _words(s)
    return [Reminder(KIND, words, {"text": words}, aside=True)]


def tokens_after(s: Session, results: list[ToolResult]) -> list[Block]:
    """What stands behind the last result of a reply's calls."""
    if not s.model.card.counts_tokens or not results:
        return []
    words, last = _words(s), results[-1].tool_use_id
    s.recorder.reminder(KIND, words, {"text": words, "resultOf": last}, role="system")
    return [Aside(words, last)]


def _words(s: Session) -> str:
    used = s.keep(Used)
    if used.start is None and s.context_tokens:
        # The first reply of a resumed session repeats what was there before.
        resumed = any(message.role == "assistant" for message in s.messages[:-1])
        used.start = s.context_tokens if resumed else 0
    used.most = max(used.most, s.context_tokens - (used.start or 0))
    return f"<total_tokens>{BUDGET - used.most} tokens left</total_tokens>"
