"""The guard of other agents: a PreToolUse event comes in, a permission decision goes out.

Whatever goes wrong here becomes a question to the user, never a silent permission.
"""

from __future__ import annotations

import json

from forge.core.shell.analysis.decide import explanation
from forge.core.shell.analysis.policy import Policy
from forge.foundation.errors import ConfigError
from forge.foundation.redact import redact
from forge.hosts.forgecmd.judging import ALLOWED, Past, assess, only_waits, place
from forge.hosts.forgecmd.policies import load_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import Incomplete

# Tools that run commands, by the names agents give them, and the shell each of them speaks.
_SHELLS = {
    "Bash": "bash",
    "Monitor": "bash",
    "Shell": "bash",
    "run_shell_command": "bash",
    "PowerShell": "powershell",
}
_FAULTS = (
    ArithmeticError, AttributeError, ImportError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip


class NotUnderstood(ValueError):
    """The event is not what a guard expects."""


def answer(
    raw: bytes,
    env: Mapping[str, str],
    load: Callable[[Mapping[str, str], str], Policy] = load_policy,
    recall: Callable[[str], Past] | None = None,
) -> str:
    """The line to print about an event; nothing for tools that are not the guard's business.

    `recall` knows what earlier commands of a session did.
    """
    try:
        event = _event(raw)
        past = recall(str(event.get("session_id", ""))) if recall is not None else Past()
        return _answered(event, env, load, past)
    except NotUnderstood as error:
        return _line("ask", f"forgecmd does not understand this call: {error}.")
    except _FAULTS as fault:
        # Its text might quote the command with its secrets.
        return _line("ask", f"forgecmd could not check this call ({type(fault).__name__}).")


def _event(raw: bytes) -> dict[str, Incomplete]:
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        raise NotUnderstood("the input is not JSON") from None
    if not isinstance(event, dict) or not isinstance(event.get("tool_name"), str):
        raise NotUnderstood("the input has no tool_name")
    return event


def _answered(
    event: dict[str, Incomplete],
    env: Mapping[str, str],
    load: Callable[[Mapping[str, str], str], Policy],
    past: Past,
) -> str:
    shell = _SHELLS.get(event["tool_name"])
    if shell is None or event.get("hook_event_name", "PreToolUse") != "PreToolUse":
        return ""
    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    cwd = event.get("cwd")
    if not isinstance(command, str) or not isinstance(cwd, str) or not cwd:
        raise NotUnderstood("it names no command or no directory")
    try:
        policy, problem = load(env, cwd), ""
    except ConfigError as error:
        policy, problem = Policy(), str(error)
    if not policy.enabled:
        return ""
    verdict, decision = assess(command, place(cwd, env, policy), policy, shell, past)
    if problem and decision.verdict != "deny":
        return _line("ask", f"forgecmd cannot read its rules.\n{problem}")
    if decision.verdict == "ask" and _may_go_on(event) and only_waits(verdict):
        decision.verdict = "allow"
    if decision.verdict in ALLOWED:
        careful = _is_careful(event) and verdict.category != "read_only"
        return "" if careful else _line("allow", f"forgecmd: {verdict.category}, risk {verdict.risk}")
    return _line(decision.verdict, "forgecmd: " + redact(explanation(decision, verdict)))


def _may_go_on(event: dict[str, Incomplete]) -> bool:
    """Whether a command that does not end by itself is what the tool is for."""
    return event["tool_name"] == "Monitor" or event["tool_input"].get("run_in_background") is True


def _is_careful(event: dict[str, Incomplete]) -> bool:
    """Whether the agent itself should have the last word: it only plans, or leaves its own sandbox."""
    return event.get("permission_mode") == "plan" or bool(
        event["tool_input"].get("dangerouslyDisableSandbox")
    )


def _line(decision: str, reason: str) -> str:
    said = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }
    return json.dumps({"hookSpecificOutput": said}) + "\n"
