"""One handler's run, judged: what its exit code and its output mean for the event. Pure functions."""

from __future__ import annotations

import msgspec

from forge.agent.hooks.hook import Hook
from forge.agent.hooks.output import Output, Wrong, parse_output
from forge.agent.hooks.port import NOT_EXECUTED
from forge.foundation.hookspec import HOOKS

# Events whose end may not be held up by a hook that does not work.
_NEVER_BLOCKED_BY_FAILURE = ("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle")
# A model that gives no judgement is no reason to block, whatever its hook says.
_NEVER_BLOCKING = ("prompt", "agent")
NO_STDERR = "No stderr output"
UNHEARD = (
    f"PreToolUse hook did not respond before its timeout (host client may be unreachable).{NOT_EXECUTED}"
)


class Run(msgspec.Struct, frozen=True):
    """How a handler ended. `failure` is why it could not be run or gave no answer at all.

    `asynchronous`: it goes on in the background. `status` is what a server answered with.
    """

    hook: Hook
    exit_code: int | None = 0
    stdout: str = ""
    stderr: str = ""
    failure: str = ""
    timed_out: bool = False
    duration_ms: float = 0
    output: Output | None = None
    combined: str = ""
    asynchronous: bool = False
    status: int | None = None


class Answer(msgspec.Struct, frozen=True):
    """A judged run. `block` is the text of a block by exit code; `plain` what may serve as context.

    `failed` says how a hook failed whose failures block: hook_failed or hook_timed_out.
    """

    run: Run
    outcome: str
    output: Output | None = None
    block: str | None = None
    plain: str = ""
    no_verdict: bool = False
    error: str = ""
    failed: str = ""


def judge(run: Run) -> Answer:
    """What a run means; a failed one blocks only where its hook says so."""
    if run.timed_out:
        unheard = _unheard(run)
        if unheard:
            return Answer(run, "cancelled", block=unheard, failed="callback_timed_out")
        return _failed(run, "timed out", "", outcome="cancelled")
    if run.failure:
        # The host's own function is not one of the user's hooks that went wrong.
        outcome = "success" if run.hook.kind == "callback" else "error"
        return _failed(run, "failed", run.failure, outcome=outcome)
    parsed = run.output if run.output is not None else parse_output(run.stdout, run.hook.event)
    if run.exit_code == 2:
        return Answer(
            run, "error", output=parsed if isinstance(parsed, Output) else None, block=_blocked(run)
        )
    if isinstance(parsed, Wrong):
        return _failed(run, "failed", parsed.problem)
    return _ended(run, parsed)


def _ended(run: Run, output: Output | None) -> Answer:
    if output is not None:
        return Answer(run, "success", output=output)
    if run.exit_code == 0:
        return Answer(run, "success", plain=run.stdout.rstrip("\n"))
    severe = run.exit_code is None or run.exit_code >= 126 or run.exit_code < 0
    return _failed(run, "failed", run.stderr.strip() or NO_STDERR, severe=severe)


def _unheard(run: Run) -> str:
    """Why the silence of the host program blocks; empty if it does not."""
    event, hook = run.hook.event, run.hook
    if hook.kind != "callback" or event not in ("PreToolUse", "UserPromptSubmit"):
        return ""
    seconds = float(hook.fields.get("timeout") or HOOKS[event].timeout)
    waited = f"{event} hook callback timed out after {seconds * 1000:.0f}ms"
    return UNHEARD if event == "PreToolUse" else waited


def _failed(run: Run, how: str, detail: str, *, outcome: str = "error", severe: bool = True) -> Answer:
    hook = run.hook
    excused = hook.event in _NEVER_BLOCKED_BY_FAILURE or hook.kind in _NEVER_BLOCKING
    if hook.fields.get("onFailure") == "block" and not excused:
        text = f'[{hook.label}]: {how}; blocking because onFailure is "block"'
        kind = "hook_timed_out" if run.timed_out else "hook_failed"
        return Answer(run, outcome, block=f"{text}\n{detail}" if detail else text, failed=kind)
    return Answer(run, outcome, no_verdict=severe, error=detail or how)


def _blocked(run: Run) -> str:
    said = f"[{run.hook.label}]: {run.stderr if run.stderr.strip() else NO_STDERR}"
    if run.hook.plugin is None:
        return said
    return f"{said}\nThis hook comes from the {run.hook.plugin.id} plugin."
