"""What stands around a sub-agent's session: a host that passes on to the parent, hooks that say who it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from forge.agent.event import (
    AgentProgress,
    AgentSaid,
    ApiFailed,
    Event,
    JobEnded,
    JobsChanged,
    JobStarted,
    Noted,
    Replied,
    Requesting,
    Streaming,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    Warned,
)
from forge.agent.guard.guarding import shared_updates
from forge.agent.hooks.port import NOTHING, Hooks, Outcome
from forge.agent.host import Allow, Answer, AskPermission, Question, Refuse
from forge.agent.session import Session
from forge.core.job import Job
from forge.core.message import Text, ToolUse, Usage

_KINDS = {
    "Read": "readCount",
    "Grep": "searchCount",
    "Glob": "searchCount",
    "Bash": "bashCount",
    "Edit": "editFileCount",
    "Write": "editFileCount",
    "NotebookEdit": "editFileCount",
}
# What a tool does in a word, and the fields that say to what: the first that is there is shown.
_DOING = {
    "Agent": ("", ("description",)),
    "Bash": ("Running ", ("description", "command")),
    "Grep": ("Searching for ", ("pattern",)),
    "Glob": ("Finding ", ("pattern",)),
    "Read": ("Reading ", ("file_path",)),
    "Edit": ("Editing ", ("file_path",)),
    "Write": ("Writing ", ("file_path",)),
    "NotebookEdit": ("Editing notebook ", ("notebook_path",)),
    "WebFetch": ("Fetching ", ("url",)),
    "WebSearch": ("Searching for ", ("query",)),
}
_COUNTED = ("input", "cache_read_input", "cache_creation_input", "output")
_MINE = AgentSaid | AgentProgress | JobStarted | JobEnded | Warned
UNATTENDED = "Permission to use {} has been denied. Go on without it, or say in your report what for."
_NOBODY = ("asyncAgent", "Permission prompts are not available in this context")
_SILENT = Streaming | Requesting | TurnStarted | JobsChanged


class ChildHost:
    """Passes events and questions on to the session that started the agent, and keeps count."""

    def __init__(self, parent: Session, job: Job) -> None:
        self._parent = parent
        self._job = job
        self._started = parent.parts.clock()
        self._before = Usage()
        self._last_text: Replied | ApiFailed | None = None
        self.child: Session | None = None
        self.failure: ApiFailed | None = None
        self.calls = 0
        self.used: set[str] = set()
        self.spent = Usage()
        self.counts = dict.fromkeys([*_KINDS.values(), "linesAdded", "linesRemoved", "otherToolCount"], 0)

    def emit(self, event: Event) -> None:
        if isinstance(event, Requesting) and self.child is not None:
            self._before = self.child.turn.usage
        if isinstance(event, _SILENT) or (isinstance(event, Noted) and not self._told(event)):
            return
        if isinstance(event, _MINE):
            if isinstance(event, AgentProgress):
                self.used.add(event.tool_name)
            self._parent.emit(event)
        elif isinstance(event, Replied) and isinstance(event.block, ToolUse):
            self._called(event, event.block)
        else:
            self._note(event)
            self._parent.emit(AgentSaid(self._job, event))

    async def ask(self, question: Question) -> Answer:
        """The parent's host decides; what it wants remembered holds for the parent too."""
        if isinstance(question, AskPermission) and not question.agent_id:
            question = msgspec.structs.replace(question, agent_id=self._job.id)
        answer = await self._parent.host.ask(question)
        if isinstance(answer, Allow):
            self._parent.remember(shared_updates(self._parent, answer.updates))
        elif self._job.backgrounded and not answer.asked and answer.why is None:
            return Refuse(UNATTENDED.format(question.call.name), asked=False, why=_NOBODY)
        return answer

    def say_last(self) -> None:
        """Repeats the last text, for hosts that saw none of the others."""
        if self._last_text is not None:
            self._parent.emit(AgentSaid(self._job, self._last_text, final=True))

    def last_usage(self) -> Usage:
        """What the last request used."""
        return Usage() if self.child is None else self.child.turn.usage - self._before

    def usage(self) -> dict[str, int]:
        """The figures of progress and end records."""
        tokens = 0 if self.child is None else self.child.context_tokens
        return {"total_tokens": tokens, "tool_uses": self.calls, "duration_ms": self.elapsed_ms()}

    def elapsed_ms(self) -> int:
        return round((self._parent.parts.clock() - self._started) * 1000)

    def _told(self, note: Noted) -> bool:
        """Forge's own words are for the model alone; of an agent that is waited for the call tells."""
        return self._job.backgrounded and not note.synthetic

    def _called(self, event: Replied, call: ToolUse) -> None:
        self.calls += 1
        if self.child is not None and (tool := self.child.find_tool(call.name)) is not None:
            self.used.add(tool.name)
        if call.name != "Agent":
            self.counts[_KINDS.get(call.name, "otherToolCount")] += 1
        said = AgentSaid(self._job, event)
        doing = activity(call, self._parent.situation.cwd) or self._job.description
        figures = self.usage()
        # The reply under way is not counted yet; what it has announced is.
        figures["total_tokens"] = max(figures["total_tokens"], _announced(event.envelope))
        progress = AgentProgress(self._job, doing, call.name, figures)
        # The order in which the reference tells the two.
        first, second = (said, progress) if self._job.backgrounded else (progress, said)
        self._parent.emit(first)
        self._parent.emit(second)

    def _note(self, event: Event) -> None:
        if isinstance(event, Replied) and isinstance(event.block, Text):
            self._last_text = event
        elif isinstance(event, ApiFailed):
            self._last_text = self.failure = event
        elif isinstance(event, TurnEnded):
            self.spent += event.usage
            self._parent.turn.denials += event.denials
        elif isinstance(event, ToolFinished):
            self._count_lines(event.data)

    def _count_lines(self, data: Any) -> None:
        patch = data.get("structuredPatch") if isinstance(data, dict) else None
        for hunk in patch if isinstance(patch, list) else ():
            lines = hunk.get("lines") if isinstance(hunk, dict) else getattr(hunk, "lines", None)
            self.counts["linesAdded"] += sum(line.startswith("+") for line in lines or ())
            self.counts["linesRemoved"] += sum(line.startswith("-") for line in lines or ())


def _announced(envelope: dict[str, Any]) -> int:
    usage = envelope.get("usage")
    found = [usage.get(f"{name}_tokens") for name in _COUNTED] if isinstance(usage, dict) else []
    return sum(number for number in found if isinstance(number, int))


class ChildHooks:
    """The hooks of the conversation, told which agent they run for; its end is a SubagentStop.

    Before each call `follow` takes over what the user has changed of modes and rules in the meantime.
    """

    def __init__(self, hooks: Hooks, job: Job, transcript: str) -> None:
        self.outer: Hooks = hooks.outer if isinstance(hooks, ChildHooks) else hooks
        self._job = job
        self._transcript = transcript
        self.child: Session | None = None
        self.follow: Callable[[], None] = _stay

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        if event in ("UserPromptSubmit", "MessageDisplay"):
            return NOTHING
        if event == "PreToolUse":
            self.follow()
        facts: dict[str, Any] = {"agent_id": self._job.id, "agent_type": self._job.agent_type, **payload}
        if event == "Stop":
            event = "SubagentStop"
            facts["agent_transcript_path"] = self._transcript
            if self.child is not None and self.child.turn.text:
                facts["last_assistant_message"] = self.child.turn.text
        return await self.outer.fire(event, **facts, within=self.child)


def _stay() -> None:
    """Nothing to follow yet."""


def activity(call: ToolUse, cwd: str = "") -> str:
    """What a call is about, in a few words; empty if there are none for it."""
    verb, fields = _DOING.get(call.name, ("", ()))
    subject = next((str(call.input[field]) for field in fields if call.input.get(field)), "")
    if subject.startswith(f"{cwd}{os.sep}"):
        subject = subject[len(cwd) + 1 :]
    return f"{verb}{subject}"[:200] if subject else ""
