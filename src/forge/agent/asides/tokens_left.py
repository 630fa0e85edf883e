"""Models that keep an eye on their budget are told what is left of it, as the reference tells them."""

from __future__ import annotations

from forge.agent.record import TOKENS_LEFT
from forge.agent.session import Reminder, Session
from forge.agent.team.crew import Seat
from forge.core.message import Aside, Block, ToolResult

BUDGET = 15_000_000
_MARK = "<total_tokens>"


class Used:
    """How far the context has grown since the session was opened."""

    def __init__(self) -> None:
        self.start: int | None = None
        self.most = 0


def opening_tokens(s: Session) -> list[Reminder]:
    """What a prompt comes with, once before each reply; sub-agents hear of it only after calls."""
    last = s.messages[-1].blocks if s.messages and s.messages[-1].role == "user" else []
    told = any(isinstance(block, Aside) and block.text.startswith(_MARK) for block in last)
    if told or not s.model.card.counts_tokens or s.keep(Seat).depth:
        return []
    words = _words(s)
    return [Reminder(TOKENS_LEFT, words, {"text": words}, aside=True)]


def tokens_after(s: Session, results: list[ToolResult]) -> list[Block]:
    """What stands behind the last result of a reply's calls."""
    if not s.model.card.counts_tokens or not results:
        return []
    words = _words(s)
    s.recorder.reminder(TOKENS_LEFT, words, {"text": words}, aside=True)
    return [Aside(words, results[-1].tool_use_id)]


def _words(s: Session) -> str:
    used = s.keep(Used)
    if used.start is None and s.context_tokens:
        # The first reply of a resumed session repeats what was there before.
        resumed = any(message.role == "assistant" for message in s.messages[:-1])
        used.start = s.context_tokens if resumed else 0
    used.most = max(used.most, s.context_tokens - (used.start or 0))
    return f"{_MARK}{BUDGET - used.most} tokens left</total_tokens>"
