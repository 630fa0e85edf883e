"""The prompts of a host that wait for their turn, and what the host hears about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from forge.agent.background import Background
from forge.agent.drive import Patience, first_of, next_prompt
from forge.agent.session import Prompt, Session
from forge.core.message import Text

_NONE: Mapping[str, Any] = {}


class Waiting:
    """Prompts in the order they came. `told` are those the host named itself and hears about.

    What has gathered during a turn becomes one prompt; `joined` names the earlier parts by the last.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queue: list[Prompt] = []
        self._wanting, self._alone = True, ""
        self.joined: dict[str, list[str]] = {}
        self.told: set[str] = set()
        self.closed = False
        self._dropped = False
        self.busy = False
        self.started = False
        self.doomed = False
        self.current = ""

    def put(self, prompt: Prompt, priority: str = "") -> None:
        """Queues a prompt; one that comes during a turn joins it, ends it ("now") or waits ("later")."""
        if self.busy and prompt.query and priority == "now":
            self._session.turn.cut_short = True
            self._queue.insert(0, prompt)
        elif self.busy and prompt.query and priority != "later":
            self._session.pending.append(prompt)
        else:
            if self._wanting and not self._queue:
                self._alone = prompt.uuid
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
        self._wanting = True
        while True:
            self._queue += session.take_pending()
            if self._queue:
                self._wanting = False
                return self._next()
            if self._dropped:
                return None
            if self.closed:
                return await next_prompt(session, patience)
            session.woken.clear()
            await session.woken.wait()

    def _next(self) -> Prompt:
        """The first prompt and all behind it that belong to it; one that found nobody at work stays alone."""
        first = first_of(self._queue)
        alone, self._alone = first.uuid == self._alone, ""
        while not alone and self._queue and _is_plain(first) and _is_plain(self._queue[0]):
            if first.verbatim != self._queue[0].verbatim:
                break
            following = self._queue.pop(0)
            self.joined[following.uuid] = [*self.joined.pop(first.uuid, ()), first.uuid]
            first = _one_of(first, following)
        return first

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
        """Stops the turn under way and the agents at work; a turn that is about to start begins stopped."""
        self._session.keep(Background).stop_agents()
        if self.started:
            self._session.interrupt()
        elif self.busy or not self.empty:
            self.doomed = True


def _is_plain(prompt: Prompt) -> bool:
    """Whether it is only words of the user: no command, no note, no news."""
    command = not prompt.verbatim and prompt.text.lstrip().startswith("/")
    return prompt.query and prompt.origin is None and not prompt.calls and not command


def _one_of(first: Prompt, following: Prompt) -> Prompt:
    if isinstance(first.content, str) and isinstance(following.content, str):
        return msgspec.structs.replace(following, content=f"{first.content}\n{following.content}")
    *before, last = first.blocks
    ended = Text(f"{last.text}\n") if isinstance(last, Text) else last
    return msgspec.structs.replace(following, content=[*before, ended, *following.blocks])


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
