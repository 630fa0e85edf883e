"""What stands around a sub-agent's session: a host that passes on to the parent, hooks that say who it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from forge.agent.event import (
    AgentProgress,
    AgentSaid,
    Event,
    JobEnded,
    JobsChanged,
    JobStarted,
    Replied,
    Requesting,
    Streaming,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    Warned,
)
from forge.agent.guarding import shared_updates
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
_DOING = {
    "Bash": ("Running", "command"),
    "Grep": ("Searching for", "pattern"),
    "Glob": ("Finding", "pattern"),
}
_ON_FILES = {"Read": "Reading", "Edit": "Editing", "Write": "Writing"}
_MINE = AgentSaid | AgentProgress | JobStarted | JobEnded | Warned
_SILENT = Streaming | Requesting | TurnStarted | JobsChanged


class ChildHost:
    """Passes events and questions on to the session that started the agent, and keeps count."""

    def __init__(self, parent: Session, job: Job) -> None:
        self._parent = parent
        self._job = job
        self._started = parent.parts.clock()
        self._before = Usage()
        self._last_text: Replied | None = None
        self.child: Session | None = None
        self.used: list[str] = []
        self.spent = Usage()
        self.counts = dict.fromkeys([*_KINDS.values(), "linesAdded", "linesRemoved", "otherToolCount"], 0)

    def emit(self, event: Event) -> None:
        if isinstance(event, Requesting) and self.child is not None:
            self._before = self.child.turn.usage
        if isinstance(event, _SILENT):
            return
        if isinstance(event, _MINE):
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
        elif isinstance(answer, Refuse) and answer.interrupt and not self._job.backgrounded:
            self._parent.interrupt()
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
        return {"total_tokens": tokens, "tool_uses": len(self.used), "duration_ms": self.elapsed_ms()}

    def elapsed_ms(self) -> int:
        return round((self._parent.parts.clock() - self._started) * 1000)

    def _called(self, event: Replied, call: ToolUse) -> None:
        self.used.append(call.name)
        said = AgentSaid(self._job, event)
        progress = AgentProgress(self._job, activity(call), call.name, self.usage())
        # The order in which the reference tells the two.
        first, second = (said, progress) if self._job.backgrounded else (progress, said)
        self._parent.emit(first)
        self._parent.emit(second)

    def _note(self, event: Event) -> None:
        if isinstance(event, Replied) and isinstance(event.block, Text):
            self._last_text = event
        elif isinstance(event, TurnEnded):
            self.spent += event.usage
            self._parent.turn.denials += event.denials
        elif isinstance(event, ToolFinished):
            self.counts[_KINDS.get(event.call.name, "otherToolCount")] += 1
            self._count_lines(event.data)

    def _count_lines(self, data: Any) -> None:
        patch = data.get("structuredPatch") if isinstance(data, dict) else None
        for hunk in patch if isinstance(patch, list) else ():
            lines = hunk.get("lines") if isinstance(hunk, dict) else getattr(hunk, "lines", None)
            self.counts["linesAdded"] += sum(line.startswith("+") for line in lines or ())
            self.counts["linesRemoved"] += sum(line.startswith("-") for line in lines or ())


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


def activity(call: ToolUse) -> str:
    """What a call is about, in a few words."""
    verb, field = _DOING.get(call.name, ("", ""))
    subject = call.input.get(field)
    if call.name in _ON_FILES:
        verb, subject = _ON_FILES[call.name], os.path.basename(str(call.input.get("file_path", "")))
    if call.name == "Agent":
        return str(call.input.get("description", call.name))
    return f"{verb} {subject}"[:200] if verb and subject else call.name
