"""What the guard adds to permissions of commands: some are never run, and in full mode it decides itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from forge.agent.session import Session
from forge.core.message import ToolUse
from forge.core.shell.guard.glance import only_reads
from forge.core.shell.guard.grant import Grant
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import FULL, OFF
from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.situation import Decision

# Programs in terminals are driven by the last of these.
_TYPING = "forgecmd_session"
_OWN = frozenset({"forgecmd", _TYPING})
SHELL_TOOLS = frozenset({"Bash", "Monitor"}) | _OWN


async def guarded(s: Session, call: ToolUse, name: str, decision: Decision) -> Decision:
    """The decision on a call as the guard has it; `decision` is that of the rules."""
    guard = s.keep(Guard)
    if name not in SHELL_TOOLS or guard.mode == OFF:
        return decision
    texts = commands_of(s, call, name)
    if name in _OWN:
        decision = _as_bash(s, texts)
    if not texts:
        return decision
    if guard.unrecorded and "history" not in guard.said:
        guard.said.add("history")
        s.warn(f"forgecmd: commands cannot be recorded: {guard.unrecorded}")
    if guard.mode == FULL:
        full: Any = import_module("forge.agent.guard.full")
        answer: Decision = await full.decide_full(s, call, texts, decision)
        return answer
    for text in texts:
        decision = _checked(s, call, text, decision)
    guard.mark(call.id, lines=tuple(texts))
    if s.parts.setting("sandbox.enabled", False) is True and decision.verdict != "deny":
        sandbox: Any = import_module("forge.agent.guard.sandbox")
        confined: Decision = await sandbox.by_sandbox(s, call, texts[0], decision)
        return confined
    return decision


def commands_of(s: Session, call: ToolUse, name: str) -> list[str]:
    """The commands that a call would run; none if it only looks at what runs already."""
    if name == _TYPING:
        found: Any = import_module("forge.core.shell.guard.typing")
        typed: list[str] = found.commands_of(call.input, s.keep(Guard))
        return typed
    command = call.input.get("command")
    return [command] if isinstance(command, str) and command else []


def settled_call(
    s: Session, call: ToolUse, name: str, meta: dict[str, Any], *, refused: bool, lasting: bool
) -> None:
    """Notes how a call was permitted; one that was refused goes into the history at once."""
    guard = s.keep(Guard)
    if name not in SHELL_TOOLS or guard.mode == OFF or not (texts := commands_of(s, call, name)):
        return
    guard.grants.setdefault(call.id, Grant(texts[0]))
    if refused:
        guard.assessed.pop(call.id, None)
        guard.wider.pop(call.id, None)
        guard.mark(call.id, status="denied")
        guard.begin(call.id, s.situation.cwd, s.id, s.parts.env, "\n".join(texts))
        return
    source = str(meta.get("permission_decision", {}).get("source", ""))
    if source.startswith("user_"):
        remembered = guard.grants[call.id].scope
        guard.mark(
            call.id,
            status="granted",
            scope=remembered or ("permanent" if lasting else "once"),
        )


def forbidden_call(s: Session, call: ToolUse) -> Decision | None:
    """The refusal of a call that nobody can allow, although somebody has."""
    words = s.keep(Guard).never.pop(call.id, "")
    return Decision("deny", words, reason_type="safetyCheck", reason=words) if words else None


def kept_updates(s: Session, call: ToolUse, updates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The updates of an answer; in full mode "for this session" remembers effects and not a text."""
    guard = s.keep(Guard)
    assessed = guard.assessed.pop(call.id, None)
    if assessed is None or guard.mode != FULL:
        return updates
    others = [u for u in updates if not _is_session_rule(u)]
    if len(others) < len(updates):
        guard.judging().memory.allow_session(assessed.verdict)
        guard.mark(call.id, scope="session")
    return others


def shared_updates(s: Session, updates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What an answer to a sub-agent means for the conversation: effects are remembered for both anyway."""
    if s.keep(Guard).mode != FULL:
        return updates
    return [update for update in updates if not _is_session_rule(update)]


async def end_guard(s: Session) -> None:
    """Ends what the guard has started, and writes what it has left to write."""
    await s.keep(Guard).close()


def where_of(s: Session) -> Any:
    """Where a command of the session would run."""
    situation = s.situation
    found: Any = import_module("forge.core.shell.guard.judging")
    return found.Where(situation.cwd, situation.home, situation.directories, s.parts.env)


def _checked(s: Session, call: ToolUse, text: str, decision: Decision) -> Decision:
    """The decision, unless the command is one of those that nobody can allow, or a rule is against it."""
    guard = s.keep(Guard)
    if decision.verdict == "deny":
        guard.grants[call.id] = Grant(text, decision="deny")
        return decision
    if only_reads(text):
        guard.grants[call.id] = Grant(text, "read_only", decision=decision.verdict)
        return decision
    judging = guard.judging()
    assessed = judging.assess(text, where_of(s), {})
    guard.grants[call.id] = assessed.grant()
    guard.mark(call.id, profile="")
    rule = assessed.decision.rule
    if assessed.forbidden and decision.verdict == "ask":
        # The host is asked as the rules have it, but nobody's yes makes it run.
        guard.never[call.id] = judging.refused(assessed)
        return decision.changed(message=guard.never[call.id])
    if assessed.forbidden or (rule is not None and rule.kind == "deny"):
        kind = "safetyCheck" if assessed.forbidden else "rule"
        reason = assessed.decision.reason
        return Decision("deny", judging.refused(assessed), reason_type=kind, reason=reason)
    if rule is not None and rule.kind == "ask" and decision.verdict == "allow":
        return Decision("ask", assessed.text, reason_type="rule", reason=assessed.decision.reason)
    return decision


def _as_bash(s: Session, texts: list[str]) -> Decision:
    """The decision of the rules on commands of the other shell tool: those for Bash count."""
    decisions = [decide("Bash", {"command": text}, s.situation) for text in texts]
    for verdict in ("deny", "ask"):
        for decision in decisions:
            if decision.verdict == verdict:
                return decision
    return decisions[0] if decisions else Decision("allow")


def _is_session_rule(update: dict[str, Any]) -> bool:
    wanted = {"type": "addRules", "behavior": "allow", "destination": "session"}
    return all(update.get(name) == value for name, value in wanted.items())
