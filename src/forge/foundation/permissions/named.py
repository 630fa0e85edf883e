"""Decisions on tools whose rules name what is started: agents and skills."""

from __future__ import annotations

from forge.foundation.permissions.situation import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation


def decide_agent(input: dict[str, object], s: Situation) -> Decision:
    """Agents may be started unless a rule names their type."""
    name = str(input.get("subagent_type") or "")
    rule = _rule_naming("Agent", name, s)
    if rule and rule.behavior == "deny":
        origin = f"permission rule 'Agent({rule.content})' from {rule.source}"
        text = f"Agent type '{name}' has been denied by {origin}."
        return Decision("deny", text, reason_type="rule", rule=rule, counted=False)
    return _otherwise("Agent", rule)


def decide_skill(input: dict[str, object], s: Situation) -> Decision:
    """Skills may be used unless a rule names them; what a skill may do itself is the caller's question."""
    name = str(input.get("skill") or input.get("command") or "").lstrip("/")
    rule = _rule_naming("Skill", name, s)
    if rule and rule.behavior == "deny":
        text = "Skill execution blocked by permission rules"
        return Decision("deny", text, reason_type="rule", rule=rule)
    return _otherwise("Skill", rule)


def _otherwise(tool: str, rule: Rule | None) -> Decision:
    if rule and rule.behavior == "ask":
        text = f"Claude requested permissions to use {tool}, but you haven't granted it yet."
        return Decision("ask", text, reason_type="rule", rule=rule)
    return Decision("allow", reason_type="rule" if rule else None, rule=rule)


def _rule_naming(tool: str, name: str, s: Situation) -> Rule | None:
    for behavior in ("deny", "ask", "allow"):
        for rule in s.having(behavior):
            if rule.tool == tool and rule.content is not None and _names(rule.content, name):
                return rule
    return None


def _names(content: str, name: str) -> bool:
    if content.endswith(":*"):
        return name.startswith(content[:-2])
    # `name *` covers a skill with any arguments, `name` alone does so too.
    return content.removesuffix(" *") == name
