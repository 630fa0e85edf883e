"""What the requests of one connection work on, and how they are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from forge.core.model import Model
from forge.hosts.agent_options import comes_later
from forge.hosts.build import Built
from forge.hosts.configuration import Configuration
from forge.hosts.control_waiting import Waiting
from forge.hosts.options import RunOptions
from forge.hosts.wire import Record, Wire

Request = dict[str, Any]
Reply = dict[str, Any] | None


class Refused(Exception):
    """The request cannot be carried out."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Seat:
    """The host's place: session, configuration as it is now, queue, and records around the next answer.

    `barred` says why there may be no turn at all; `awaited` is the main agent the host has yet to define.
    """

    def __init__(self, o: RunOptions, c: Configuration, built: Built, waiting: Waiting) -> None:
        self.o = o
        self.c = c
        self.choice = built.choice
        self.session = built.session
        self.waiting = waiting
        self.before: list[Callable[[Wire], Record]] = []
        self.after: list[Callable[[Wire], Record]] = []
        self.siblings: dict[str, Any] = {}
        self.retired: list[Model] = []
        self.errands: set[asyncio.Task[None]] = set()
        self.forget_hooks: Callable[[], None] = lambda: None
        self.awaited = str(o.agent) if comes_later(o, built.session.parts.agents) else ""
        self.barred = f"Error: --agent '{self.awaited}' not found." if self.awaited else ""

    def run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Does something that nobody waits for."""
        task = asyncio.ensure_future(work)
        self.errands.add(task)
        task.add_done_callback(self.errands.discard)

    def text(self, request: Request, key: str) -> str:
        """A text the request must have."""
        value = request.get(key)
        if not isinstance(value, str) or not value:
            raise Refused(f"{request.get('subtype')}: {key} must be a string")
        return value
