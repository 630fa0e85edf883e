"""Texts that enter the history in the user's place without being typed."""

from __future__ import annotations

from forge.agent.event import Noted
from forge.agent.session import Session
from forge.core.message import Text


def note(s: Session, words: str, *, synthetic: bool = True) -> None:
    """Adds a text to the history in the user's place; not `synthetic` is what the user has brought about."""
    uuid = s.parts.new_id()
    s.recorder.prompt(uuid, [Text(words)], isMeta=True)
    s.add_user([Text(words)])
    s.turn.user_events += 1
    s.emit(Noted(uuid, words, synthetic))
