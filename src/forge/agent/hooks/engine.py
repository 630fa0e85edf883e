"""The hooks of a session: from where they come, which an event concerns, and the way to run them.

An event nobody has a hook for costs a look into a dictionary; everything else is loaded when it is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.hooks.port import NOTHING, Outcome
from forge.core.components.kinds import HookSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.agent.hooks.hook import Hook
    from forge.agent.hooks.terminal import Lend
    from forge.agent.session import Session
    from forge.foundation.system.process import Child

# A hook nobody waits for may finish what it is about to write when the program ends.
GRACE = 0.3

CallTool = Callable[[str, str, dict[str, Any]], Awaitable[str]]
CallBack = Callable[[str, dict[str, Any], str], Awaitable[dict[str, Any]]]


class Means(msgspec.Struct, frozen=True):
    """What hooks may use. `allowed_urls` None: any; `variables`: those http headers may contain, None: any.

    `call_tool` calls a tool of an MCP server. `switched_off`: settings forbid all but managed hooks.
    `lend_terminal` gives the host's terminal out of hand, or None if the host cannot do without it. `wakes`:
    the conversation can go on by itself, as long as its host listens. `asks`: somebody answers questions.
    """

    project_dir: str = ""
    config_dir: str = ""
    allowed_urls: list[str] | None = None
    variables: list[str] | None = None
    attended: bool = False
    trusted: bool = False
    switched_off: bool = False
    call_tool: CallTool | None = None
    lend_terminal: Lend | None = None
    wakes: bool = False
    asks: bool = False


class Engine:
    """Runs the hooks of all sources; one for a session and its sub-agents."""

    def __init__(self, means: Means = Means()) -> None:  # noqa: B008 - frozen
        self.means = means
        self.session: Session | None = None
        self.call_back: CallBack | None = None
        self.late: list[str] = []
        self.numbers: dict[str, int] = {}
        self.left: list[Child] = []
        self.terminal = asyncio.Lock()
        self._groups: list[list[Hook]] = []
        self._events: dict[str, list[Hook]] = {}
        self._picked: dict[tuple[str, str | None], list[Hook]] = {}
        self._tasks: dict[asyncio.Task[Any], bool] = {}

    def add(self, source: HookSource, agent_id: str = "") -> Callable[[], None]:
        """Adds the hooks of a source and returns the function that takes them out again."""
        found = import_module("forge.agent.hooks.configured").hooks_of(source, agent_id)
        return self.add_hooks(found)

    def add_hooks(self, hooks: list[Hook]) -> Callable[[], None]:
        """Adds hooks that were read already."""
        self._groups.append(hooks)
        self._sort()

        def remove() -> None:
            self._groups = [group for group in self._groups if group is not hooks]
            self._sort()

        return remove

    def drop(self, hook: Hook) -> None:
        """Takes out one hook, such as one that runs only once."""
        for group in self._groups:
            if hook in group:
                group.remove(hook)
        self._sort()

    def hooks(self, event: str = "") -> list[Hook]:
        """All hooks, or those of one event, in the order of their sources."""
        if event:
            return list(self._events.get(event, ()))
        return [hook for group in self._groups for hook in group]

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        """Runs the hooks of an event and folds their answers; `within` is the session it happened in."""
        if event not in self._events:
            return NOTHING
        within = payload.pop("within", None) or self.session
        if within is None:
            return NOTHING
        dispatch = import_module("forge.agent.hooks.dispatch").dispatch
        running: Awaitable[Outcome] = dispatch(self, within, event, payload)
        if event in ("StopFailure", "DirectoryAdded"):
            self.keep_running(running, waits=True)
            return NOTHING
        return await running

    def announce(self, event: str, **payload: Any) -> None:
        """Fires an event whose hooks nobody waits for."""
        if event in self._events:
            self.keep_running(self.fire(event, **payload), waits=True)

    def picked(self, event: str, value: str | None) -> list[Hook]:
        """The hooks of an event whose matcher accepts the value."""
        known = self._picked.get((event, value))
        if known is None:
            select = import_module("forge.agent.hooks.configured").select
            known = self._picked[event, value] = select(self._events.get(event, ()), event, value)
            if len(self._picked) > 1000:
                self._picked = {}
        return known

    def keep_running(self, work: Awaitable[Any], *, waits: bool = False) -> None:
        """Lets work go on beside the conversation; `waits`: it gets a moment when the program ends."""
        task = asyncio.ensure_future(work)
        self._tasks[task] = waits
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def close(self) -> None:
        """Ends what still runs beside the conversation, also what hooks have left behind."""
        waited = [task for task, waits in self._tasks.items() if waits]
        if waited:
            await asyncio.wait(waited, timeout=GRACE)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for child in self.left:
            child.kill()

    def take_late(self) -> list[str]:
        """What hooks in the background have said since the last time."""
        taken, self.late = self.late, []
        return taken

    def _sort(self) -> None:
        self._events, self._picked = {}, {}
        for hook in self.hooks():
            self._events.setdefault(hook.event, []).append(hook)
