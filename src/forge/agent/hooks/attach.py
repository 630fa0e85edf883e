"""What the transcript keeps of the runs of hooks, besides the texts that reach the model."""

from __future__ import annotations

from typing import Any

from forge.agent.hooks.answer import Answer
from forge.agent.hooks.port import Told
from forge.agent.hooks.run import Firing
from forge.agent.session import Session

# The end of a turn has a record of its own.
_SUMMARISED = ("Stop", "SubagentStop")


def attach(s: Session, firing: Firing, answers: list[Answer], told: list[Told]) -> None:
    """Writes one record per run that says nothing to the model, and one per message to the user."""
    if firing.spec.reported is None:
        return
    names = {
        "hookName": firing.name,
        "toolUseID": firing.payload.get("tool_use_id", ""),
        "hookEvent": firing.spec.name,
    }
    spoken = any(t.kind == "hook_success" for t in told)
    for answer in answers:
        if answer.output is not None and answer.output.system_message:
            s.recorder.attach(
                {"type": "hook_system_message", "content": answer.output.system_message} | names
            )
        if firing.spec.name in _SUMMARISED or (answer.plain and spoken):
            continue
        # The reference would take a record of an objection for something to tell the model.
        if answer.block is None:
            s.recorder.attach(_attachment(answer) | names)


def _attachment(answer: Answer) -> dict[str, Any]:
    run = answer.run
    facts = {
        "stdout": run.stdout,
        "stderr": run.stderr,
        "exitCode": run.exit_code,
        "command": run.hook.label,
        "durationMs": round(run.duration_ms),
    }
    if run.timed_out:
        return {"type": "hook_cancelled", "command": run.hook.label, "timedOut": True}
    if answer.outcome != "success":
        failed = {"stderr": f"Failed with non-blocking status code: {answer.error or run.stderr}"}
        return {"type": "hook_non_blocking_error", **facts, **failed}
    return {"type": "hook_success", **facts, "content": answer.plain}
