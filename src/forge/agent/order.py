"""The order of the calls of one reply: those that only look run side by side, every other one alone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from forge.agent.session import Session
from forge.core.message import ToolUse
from forge.foundation.permissions.decide import decide


class Order:
    """A call that changes something waits for all before it, and all behind it wait for that call."""

    def __init__(self, s: Session, calls: list[ToolUse]) -> None:
        self._quiet = {call.id: len(calls) == 1 or _only_looks(s, call) for call in calls}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, call_id: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts the work on a call, which has to wait for its turn itself."""
        task = self._tasks[call_id] = asyncio.ensure_future(work)
        return task

    async def turn(self, call_id: str) -> None:
        """Returns when it is the turn of the call."""
        before = list(self._tasks)[: list(self._tasks).index(call_id)]
        quiet = self._quiet[call_id]
        awaited = [self._tasks[other] for other in before if not (quiet and self._quiet[other])]
        if awaited:
            await asyncio.wait(awaited)


def _only_looks(s: Session, call: ToolUse) -> bool:
    tool = s.find_tool(call.name)
    if tool is None:
        return True
    if tool.alone or tool.remote is not None:
        return tool.read_only
    if "command" not in tool.schema.get("properties", {}):
        return True
    # A command that nobody has to be asked about, whatever the rules and the mode, changes nothing.
    plain = s.situation.changed(mode="default", rules=[])
    return decide("Bash", {"command": call.input.get("command")}, plain).verdict == "allow"
