"""The state of one conversation and the commands on it: interrupt, set mode or model, remember rules."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import msgspec

from forge.agent.checkpoint import Checkpoints
from forge.agent.event import Denial, Event, ModeChanged, ModelSpend, Warned
from forge.agent.hooks.port import Hooks, Told
from forge.agent.host import Host
from forge.agent.ledger import Ledger
from forge.agent.record import Recorder
from forge.agent.team.agents import builtin_agents
from forge.core.components.agent_type import AgentType
from forge.core.components.catalog import Catalog
from forge.core.message import Aside, Block, Image, Message, Text, ToolUse, Usage
from forge.core.model import Model, Options
from forge.core.registry import Registry
from forge.core.reminder import result_before
from forge.core.tool import FileStamp, Tool
from forge.foundation.permissions.decide import removed
from forge.foundation.permissions.rule import TURN
from forge.foundation.permissions.situation import Situation
from forge.foundation.permissions.updates import apply_updates

T = TypeVar("T")


class Limits(msgspec.Struct, frozen=True):
    """When a turn must end by itself; None means no limit.

    `window` is how much of the context window to use, 0 for all of it, None for what the settings say.
    """

    max_turns: int | None = None
    max_budget_usd: float | None = None
    max_seconds: float | None = None
    window: int | None = None


class Prompt(msgspec.Struct, frozen=True):
    """What the user said.

    `query` false adds it to the history without asking the model; `verbatim` leaves @mentions alone;
    `origin` says who spoke if it was not the user; `record` is what the transcript adds to the entry. A
    prompt with `calls` has no words: the turn goes on with calls of the last reply that were put off.
    """

    content: str | list[Block]
    uuid: str
    query: bool = True
    verbatim: bool = False
    origin: dict[str, str] | None = None
    record: dict[str, Any] = {}
    calls: list[ToolUse] = []

    @property
    def blocks(self) -> list[Block]:
        return [Text(self.content)] if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        return "".join(b.text for b in self.blocks if isinstance(b, Text))


class Reminder(msgspec.Struct, frozen=True):
    """A text Forge puts in front of a prompt; `kind` names it in the transcript.

    `aside`: it is told in the way the model prefers for such texts. `picture` follows the text; the
    transcript keeps it among the facts.
    """

    kind: str
    text: str
    facts: dict[str, Any] = {}
    aside: bool = False
    picture: Image | None = None

    def blocks(self, about: str) -> list[Block]:
        """What the model is told; `about` names the result it stands behind."""
        told = Aside(self.text, about) if self.aside else Text(self.text)
        return [told] if self.picture is None else [told, self.picture]


class Structured(msgspec.Struct):
    """State of a turn that must end with a value of a schema; `wrong` is why the last one did not fit."""

    schema: dict[str, Any]
    value: Any = msgspec.UNSET
    failures: int = 0
    reminded: bool = False
    wrong: str = ""


class Parts(msgspec.Struct, frozen=True):
    """Everything a session is made of; assembled by the composition root and by tests."""

    id: str
    host: Host
    model: Model
    tools: Registry[Tool]
    hooks: Hooks
    situation: Situation
    recorder: Recorder
    system: list[str]
    reminders: list[Reminder]
    options: Options
    limits: Limits
    env: Mapping[str, str]
    setting: Callable[[str, Any], Any]
    results_dir: str
    clock: Callable[[], float]
    new_id: Callable[[], str]
    persist: Callable[[list[dict[str, Any]]], None]
    structured: Structured | None = None
    allowed: frozenset[str] | None = None
    agents: Registry[AgentType] = msgspec.field(default_factory=builtin_agents)
    open_model: Callable[[str], Model] | None = None
    catalog: Catalog = msgspec.field(default_factory=Catalog)


class Turn:
    """Counters of the turn under way."""

    def __init__(
        self, now: float, spent: dict[str, ModelSpend], origin: dict[str, str] | None = None
    ) -> None:
        self.started = now
        self.spent_before = spent
        self.steps = 0
        self.user_events = 0
        self.usage = Usage()
        self.api_ms = 0.0
        self.first_token_ms: float | None = None
        self.request_ms: float | None = None
        self.stop_reason: str | None = None
        self.text = ""
        self.denials: list[Denial] = []
        self.prompts: list[str] = []
        self.origin = origin
        self.continuations = 0
        self.reminded: set[str] = set()
        self.end_after_calls = False
        self.cut_short = False
        self.asides: list[Block] = []
        self.stop_blocks = 0
        self.stop_hook_active = False
        self.deferred: dict[str, Any] | None = None
        self.display: str | None = None
        self.stopped_in_tools = False
        self.begun: set[str] = set()

    @property
    def shown(self) -> str:
        """The last text of the model, as the user has seen it."""
        return self.text if self.display is None or not self.text else self.display


class Session:
    """One conversation. The history keeps this invariant: every tool use is answered in the next message."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.id = parts.id
        self.host = parts.host
        self.model = parts.model
        self.hooks = parts.hooks
        self.situation = parts.situation
        self.recorder = parts.recorder
        self.messages: list[Message] = []
        self.ledger = Ledger()
        self.seen: dict[str, FileStamp] = {}
        self.pending: list[Prompt] = []
        self.reminders = list(parts.reminders)
        self.system = parts.system
        self.structured = parts.structured
        self.turn = Turn(parts.clock(), {})
        self._task: asyncio.Task[Any] | None = None
        self.interrupted = False
        self._kept: dict[type, object] = {}
        self.woken = asyncio.Event()
        self.checkpoints: Checkpoints | None = None
        self.context_tokens = 0
        self.compactions_in_a_row = 0
        self.standing: list[Reminder] = []
        # What the user asked for last.
        self.asked = ""

    def keep(self, kind: type[T]) -> T:
        """The session's one object of this kind, made on first use."""
        kept = self._kept.get(kind)
        if not isinstance(kept, kind):
            kept = self._kept[kind] = kind()
        return kept

    def kept_objects(self) -> list[object]:
        return list(self._kept.values())

    def share(self, kept: object) -> None:
        """Makes `kept` the session's one object of its kind."""
        self._kept[type(kept)] = kept

    def emit(self, event: Event) -> None:
        self.host.emit(event)

    def warn(self, text: str) -> None:
        self.host.emit(Warned(text))

    def tools(self, also: frozenset[str] = frozenset()) -> list[Tool]:
        """The tools the model may see now, in a fixed order, and those named in `also`."""
        allowed = None if self.parts.allowed is None else self.parts.allowed | also
        names = [c.value for c in self.parts.tools if allowed is None or c.name in allowed]
        lasting = [rule for rule in self.situation.rules if rule.source != TURN]
        return [t for t in names if not removed(t.name, lasting)]

    def find_tool(self, name: str) -> Tool | None:
        """The tool of that name or alias, if the model may use it."""
        return next((t for t in self.tools() if t.name == name or name in t.aliases), None)

    async def run(self, turn: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs one turn, or the wait for the next one, as the task that `interrupt` stops."""
        self.interrupted = False
        task = asyncio.ensure_future(turn())
        self._task = task
        try:
            return await task
        finally:
            self._task = None

    def interrupt(self) -> bool:
        """Stops the turn under way; true if there was one."""
        if self._task is None or self._task.done():
            return False
        self.interrupted = True
        self._task.cancel()
        return True

    def set_mode(self, mode: str) -> None:
        self.situation = self.situation.changed(mode=mode)
        self.emit(ModeChanged(mode))

    def set_model(self, model: Model) -> None:
        self.model = model

    def remember(self, updates: list[dict[str, Any]]) -> None:
        """Takes over rules, directories and mode; what belongs into settings files is written there."""
        if not updates:
            return
        mode = self.situation.mode
        self.situation, persistent = apply_updates(self.situation, updates)
        if self.situation.mode != mode:
            self.emit(ModeChanged(self.situation.mode))
        self.parts.persist(persistent)

    def add_prompt(self, prompt: Prompt, told: list[Told]) -> None:
        """Puts a prompt with its reminders and what hooks have to say into history and transcript."""
        reminders, self.reminders = self.reminders, []
        reminders = reminders + [Reminder(t.kind, t.text, t.facts, aside=True) for t in told]
        self.recorder.cwd = self.situation.cwd
        facts = {"permissionMode": self.situation.mode, **prompt.record}
        self.recorder.prompt(prompt.uuid, prompt.content, **facts)
        if self.checkpoints is not None:
            self.checkpoints.begin(prompt.uuid)
        for r in reminders:
            if r.picture is None:
                self.recorder.reminder(r.kind, r.text, r.facts, aside=r.aside)
            else:
                self.recorder.attach({"type": r.kind, **r.facts})
        last = self.messages[-1] if self.messages else None
        about = result_before(last.blocks) if last is not None and last.role == "user" else ""
        blocks = [block for r in reminders for block in r.blocks(about)]
        self.add_user([*blocks, *prompt.blocks])
        self.turn.prompts.append(prompt.uuid)
        if prompt.origin is None:
            self.asked = prompt.text or self.asked

    def add_user(self, blocks: list[Block]) -> None:
        """Appends user blocks; two user messages in a row become one."""
        if self.messages and self.messages[-1].role == "user":
            last = self.messages.pop()
            blocks = [*last.blocks, *blocks]
        self.messages.append(Message("user", blocks))

    def wake(self, prompt: Prompt) -> None:
        """Queues a prompt nobody typed, such as the news that a job has ended."""
        self.pending.append(prompt)
        self.woken.set()

    def take_pending(self) -> list[Prompt]:
        taken, self.pending = self.pending, []
        return taken

    def elapsed_ms(self) -> float:
        return (self.parts.clock() - self.turn.started) * 1000

    def over_budget(self) -> bool:
        """Whether the money for this run is spent."""
        budget = self.parts.limits.max_budget_usd
        return budget is not None and self.ledger.spent_here >= budget

    def out_of_turns(self) -> bool:
        """Whether the model has been asked as often as it may be in one turn."""
        most = self.parts.limits.max_turns
        return most is not None and self.turn.steps >= most
