"""Decisions on watching a command: judged as if Bash ran it, but allowing all of Bash does not cover it."""

from __future__ import annotations

from forge.foundation.permissions.bash import decide_bash
from forge.foundation.permissions.rule import Rule
from forge.foundation.permissions.situation import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation

GENERIC = "Claude requested permissions to use Monitor, but you haven't granted it yet."


def decide_monitor(input: dict[str, object], s: Situation) -> Decision:
    """Decide on the command of a watch; a watch of anything else needs approval."""
    command = input.get("command")
    if not isinstance(command, str) or not command:
        return Decision("ask", GENERIC)
    decision = decide_bash(
        command, s.changed(rules=[_for_command(rule) for rule in s.rules if _counts(rule)])
    )
    return decision.changed(message=decision.message.replace("This Bash command", "This Monitor command"))


def _counts(rule: Rule) -> bool:
    """Rules for Bash and those of the tool itself that forbid; an allow rule for all of Bash does not."""
    if rule.tool == "Monitor":
        return rule.content is not None and rule.behavior != "allow"
    return rule.tool != "Bash" or rule.content is not None or rule.behavior != "allow"


def _for_command(rule: Rule) -> Rule:
    if rule.tool != "Monitor":
        return rule
    return Rule(rule.text, "Bash", rule.content, rule.behavior, rule.source, rule.anchor)
