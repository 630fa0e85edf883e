"""Sessions whose commands are guarded, without a model and without running anything."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from doubles import RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.hooks.port import NOTHING, Outcome
from forge.agent.host import Answer
from forge.agent.permission import Verdict, permit
from forge.agent.session import Session
from forge.core.message import ToolUse
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import Setup, Source
from forge.core.shell.session.screen import Screen
from forge.core.shell.session.typed import Typing
from forge.core.tool import Tool
from forge.foundation.permissions.rule import Rule

TOOLS = [tool(name, echo) for name in ("Bash", "Monitor", "forgecmd", "forgecmd_session")]


class AtPrompt:
    """A program that shows a prompt."""

    def __init__(self, line: str) -> None:
        self.typing = Typing("bash")
        self.screen = Screen(24, 80)
        self.screen.feed(line.encode())


class Confining:
    """A place to run commands that says whether it has a sandbox, with a shell that waits at its prompt."""

    def __init__(self, *, enforcing: bool = True) -> None:
        self.enforcing = enforcing
        self.programs = self

    def find(self, name: str) -> AtPrompt:
        return AtPrompt("$ ")

    async def enforces(self) -> bool:
        return self.enforcing

    async def facts(self) -> Any:
        return msgspec.defstruct("Facts", [("missing", tuple, (("Landlock", "too old"),))])()

    async def close(self) -> None:
        pass


def guarded_session(
    mode: str,
    *answers: Answer,
    rules: list[Rule] | None = None,
    own: dict[str, Any] | None = None,
    enforcing: bool = True,
    settings: dict[str, Any] | None = None,
    **setup: Any,
) -> tuple[Session, RecordingHost]:
    """A session in a mode; `own` is its `forgecmd` setting."""
    host = RecordingHost(*answers)
    s = session(ScriptedModel([]), host, TOOLS, rules=rules or [], cwd="/home/user/proj")
    if settings is not None:
        given = settings
        s.parts = msgspec.structs.replace(s.parts, setting=lambda key, default: given.get(key, default))
    guard = Guard(Setup(mode, (Source("settings.json", own),) if own else (), **setup))
    place: Any = Confining(enforcing=enforcing)
    guard._workplace = place
    s.share(guard)
    return s, host


async def permitting(s: Session, use: ToolUse, hooked: Outcome = NOTHING) -> Verdict:
    found: Tool | None = s.find_tool(use.name)
    assert found is not None
    return await permit(s, use, found, hooked)


def asked(s: Session, command: str, *, hooked: Outcome = NOTHING, name: str = "Bash", **more: Any) -> Verdict:
    """What becomes of a call."""
    return asyncio.run(permitting(s, call(name, command=command, **more), hooked))


def words(verdict: Verdict) -> str:
    """What the model is told about a refusal; "" if the call may run."""
    return "" if verdict.refused is None else str(verdict.refused.result.content)
