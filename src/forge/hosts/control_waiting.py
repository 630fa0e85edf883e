"""The prompts of a host that wait for their turn, and what the host hears about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge.agent.background import Background
from forge.agent.drive import Patience, next_prompt
from forge.agent.session import Prompt, Session

_NONE: Mapping[str, Any] = {}


class Waiting:
    """Prompts in the order they came. `told` are those the host named itself and hears about."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queue: list[Prompt] = []
        self.told: set[str] = set()
        self.closed = False
        self._dropped = False
        self.busy = False
        self.started = False
        self.doomed = False
        self.current = ""

    def put(self, prompt: Prompt) -> None:
        """Queues a prompt; one that comes during a turn is folded into it where it fits."""
        if self.busy and prompt.query:
            self._session.pending.append(prompt)
        else:
            self._queue.append(prompt)
            self._session.woken.set()

    def close(self, *, drop: bool = False) -> None:
        """Nothing more will come; `drop` forgets what is still there, and nothing is waited for."""
        self.closed = True
        self._dropped = self._dropped or drop
        if drop:
            self._queue.clear()
            self._session.pending.clear()
        self._session.woken.set()

    async def take(self, patience: Patience) -> Prompt | None:
        """The next prompt; None when nothing can come any more."""
        session = self._session
        while True:
            self._queue += session.take_pending()
            if self._queue:
                return self._queue.pop(0)
            if self._dropped:
                return None
            if self.closed:
                return await next_prompt(session, patience)
            session.woken.clear()
            await session.woken.wait()

    @property
    def empty(self) -> bool:
        return not self._queue and not self._session.pending

    @property
    def idle(self) -> bool:
        """Whether the session has nothing to do and nothing to wait for."""
        return self.empty and not self._session.keep(Background).holding()

    def listed(self) -> list[str]:
        """The waiting prompts the host knows by name."""
        taken = [self.current] if self.busy and not self.started else []
        waiting = [p.uuid for p in (*self._queue, *self._session.pending)]
        return [uuid for uuid in (*taken, *waiting) if uuid in self.told]

    def cancel(self, uuid: str) -> bool:
        """Forgets a waiting prompt; false if there is none of that name."""
        if uuid not in self.listed() or uuid == self.current:
            return False
        self._queue = [p for p in self._queue if p.uuid != uuid]
        self._session.pending = [p for p in self._session.pending if p.uuid != uuid]
        return True

    def interrupt(self) -> None:
        """Stops the turn under way; one that is about to start begins stopped."""
        if self.started:
            self._session.interrupt()
        elif self.busy or not self.empty:
            self.doomed = True


def lifecycle(session: Session, uuid: str, state: str, cause: Mapping[str, Any] = _NONE) -> dict[str, Any]:
    """The record that tells what became of a prompt; `cause` is why one comes that nobody typed."""
    return {
        "type": "command_lifecycle",
        "command_uuid": uuid,
        "state": state,
        **cause,
        "uuid": session.parts.new_id(),
        "session_id": session.id,
    }
