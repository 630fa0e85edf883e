"""Runs a hook that is a function of the host program, over the connection to it."""

from __future__ import annotations

import logging

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.output import Output, Wrong, check_output
from forge.agent.hooks.port import GONE, NOT_EXECUTED
from forge.agent.hooks.run import Firing
from forge.core.tool import ToolError
from forge.foundation.encode import dumps

log = logging.getLogger("forge.hooks")

UNEXPECTED = f"PreToolUse hook failed with an unexpected error.{NOT_EXECUTED}"
_UNUSABLE = "Hook callback {} failed: the SDK host replied with an error or an invalid answer."


async def run(firing: Firing, hook: Hook) -> Run:
    """The answer of the host; an error or a closed connection is a failure."""
    call = firing.engine.call_back
    if call is None:
        return _gone(hook)
    try:
        answer = await call(str(hook.fields["id"]), firing.payload, _about(firing))
    except ToolError as error:
        if error.message == GONE:
            return _gone(hook)
        return _unusable(hook, error.message)
    if answer.get("async") is True:
        return Run(hook)
    checked = check_output(answer, hook.event)
    shown = dumps(msgspec.to_builtins(answer)).decode()
    if isinstance(checked, Wrong):
        return _unusable(hook, checked.problem)
    return Run(hook, stdout=shown, output=checked, combined=shown)


def _about(firing: Firing) -> str:
    """The id that goes with a question: of the call, or of the question itself if it is about none."""
    named = firing.payload.get("tool_use_id")
    if named or firing.spec.name == "PermissionRequest":
        return str(named or "")
    identity = firing.session.parts.new_id()
    return f"hook-{identity}" if firing.spec.name == "PostToolBatch" else identity


def _unusable(hook: Hook, why: str) -> Run:
    """An answer that says nothing; one meant for another event stops the call it was asked about."""
    log.warning("%s callback %s: %s", hook.event, hook.fields["id"], why)
    if hook.event == "PreToolUse" and "incorrect event name" in why:
        return Run(hook, output=Output(decision="block", reason=UNEXPECTED))
    return Run(hook, None, failure=_UNUSABLE.format(hook.fields["id"]))


def _gone(hook: Hook) -> Run:
    """A call that only the host could have checked is not made without it."""
    if hook.event == "PreToolUse":
        return Run(hook, output=Output(decision="block", reason=GONE))
    return Run(hook, None, failure=GONE)
