"""What the skills of a turn have changed, until the turn ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forge.agent.session import Session


class Granted:
    """What has to be undone when the turn ends; `hooked` are the skills whose hooks are in force."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], Awaitable[None]]] = []
        self.hooked: set[str] = set()


async def end_grants(s: Session) -> None:
    """Undoes what the skills of the turn have changed."""
    granted = s.keep(Granted)
    undo, granted.undo = granted.undo, []
    for each in reversed(undo):
        await each()
