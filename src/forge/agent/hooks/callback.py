"""Runs a hook that is a function of the host program, over the connection to it."""

from __future__ import annotations

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.output import Output, Wrong, check_output
from forge.agent.hooks.run import Firing
from forge.core.tool import ToolError
from forge.foundation.encode import dumps

GONE = "Stream closed"


async def run(firing: Firing, hook: Hook) -> Run:
    """The answer of the host; an error or a closed connection is a failure."""
    call = firing.engine.call_back
    if call is None:
        return _gone(hook)
    payload = firing.payload
    try:
        answer = await call(str(hook.fields["id"]), payload, str(payload.get("tool_use_id", "")))
    except ToolError as error:
        if error.message == GONE:
            return _gone(hook)
        return Run(hook, None, failure=error.message)
    if answer.get("async") is True:
        return Run(hook)
    checked = check_output(answer, hook.event)
    shown = dumps(msgspec.to_builtins(answer)).decode()
    if isinstance(checked, Wrong):
        return Run(hook, None, failure=checked.problem)
    return Run(hook, stdout=shown, output=checked, combined=shown)


def _gone(hook: Hook) -> Run:
    """A call that only the host could have checked is not made without it."""
    if hook.event == "PreToolUse":
        return Run(hook, output=Output(decision="block", reason=GONE))
    return Run(hook, None, failure=GONE)
