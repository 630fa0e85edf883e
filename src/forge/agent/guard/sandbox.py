"""The sandbox of the reference's settings: which commands run in it, and what that makes unnecessary."""

from __future__ import annotations

from typing import Any

from forge.agent.session import Session
from forge.core.message import ToolUse
from forge.core.shell.guard.guard import Guard
from forge.core.shell.sandbox.profile import Profile
from forge.foundation.permissions.commandrule import allows
from forge.foundation.permissions.parser import parse
from forge.foundation.permissions.rule import Rule
from forge.foundation.permissions.situation import Decision

_UNAVAILABLE = "The sandbox is switched on (sandbox.enabled), but it does not work on this machine"


async def by_sandbox(s: Session, call: ToolUse, text: str, decision: Decision) -> Decision:
    """The decision where `sandbox.enabled` is true: the command may then write to the workspace alone."""
    setting = s.parts.setting("sandbox", {})
    if is_excluded(text, setting.get("excludedCommands"), s.situation.home):
        return decision
    if call.input.get("dangerouslyDisableSandbox") is True and setting.get("allowUnsandboxedCommands", True):
        return decision
    guard = s.keep(Guard)
    workplace = guard.workplace()
    if not await workplace.enforces():
        reasons = "; ".join(f"{name}: {why}" for name, why in (await workplace.facts()).missing)
        if setting.get("failIfUnavailable", False):
            words = f"{_UNAVAILABLE} ({reasons}), and sandbox.failIfUnavailable forbids to go on without it."
            return Decision("deny", words, reason_type="safetyCheck", reason=words)
        if "sandbox" not in guard.said:
            guard.said.add("sandbox")
            s.warn(f"{_UNAVAILABLE} ({reasons}). Commands run without it.")
        return decision
    guard.mark(call.id, profile=str(Profile.WORKSPACE))
    free = decision.verdict == "ask" and decision.reason_type not in ("rule", "safetyCheck")
    if free and setting.get("autoAllowBashIfSandboxed", True):
        return Decision("allow", reason_type="other")
    return decision


def is_excluded(text: str, excluded: Any, home: str) -> bool:
    """Whether every part of a command is one that must run outside."""
    contents = [entry for entry in excluded or () if isinstance(entry, str)]
    rules = [Rule(c, "Bash", c if "*" in c else f"{c}:*", "allow", "sandbox", "") for c in contents]
    script = parse(text, home)
    if not rules or not script.commands or script.problems or script.unclosed:
        return False
    return all(any(allows(rule, simple) for rule in rules) for simple in script.commands)
