"""Hooks, answers and engines for tests."""

from __future__ import annotations

from typing import Any

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.hooks.answer import Answer, Run, judge
from forge.agent.hooks.engine import Engine, Means
from forge.agent.hooks.hook import Hook
from forge.agent.session import Session
from forge.core.components.kinds import HookSource
from forge.foundation.encode import dumps
from forge.foundation.origin import Origin, Scope

PROJECT = Origin(Scope.PROJECT, "settings.json")


def hook(event: str = "PreToolUse", label: str = "x", **fields: Any) -> Hook:
    return Hook(event, fields.pop("matcher", ""), "command", {"command": label, **fields}, PROJECT)


def answer(event: str, output: Any = "", exit_code: int = 0, stderr: str = "", **fields: Any) -> Answer:
    text = output if isinstance(output, str) else dumps(output).decode()
    return judge(Run(hook(event, **fields), exit_code, text, stderr))


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def engine(events: dict[str, Any], **means: Any) -> Engine:
    made = Engine(Means(**means))
    made.add(HookSource(PROJECT, events))
    return made


def one(event: str, command: str, **fields: Any) -> dict[str, Any]:
    """The settings of a single command hook."""
    matcher = fields.pop("matcher", "")
    return {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, **fields}]}]}


def seated(made: Engine, cwd: str, **facts: Any) -> tuple[Session, RecordingHost]:
    """A session whose hooks are run by the engine."""
    host = RecordingHost()
    s = session(ScriptedModel([]), host, [], hooks=made, cwd=cwd, results_dir=f"{cwd}/results", **facts)
    made.session = s
    return s, host
