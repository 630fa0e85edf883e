"""The decision on a tool call: deny and ask rules, safety checks, allow rules, mode."""

from __future__ import annotations

import re

from forge.foundation.permissions.bash import decide_bash
from forge.foundation.permissions.files import (
    READ_TOOLS,
    WRITE_TOOLS,
    accept_edits,
    decide_read,
    decide_write,
    path_of,
    readable,
)
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.web import decide_fetch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation

__all__ = ["decide", "readable", "removed"]

INTERACTIVE = frozenset({"AskUserQuestion", "ExitPlanMode"})
FREE_TOOLS = frozenset(
    [
        "TodoWrite",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "TaskStop",
        "TaskOutput",
        "BashOutput",
        "ToolSearch",
        "ListAgents",
        "ListMcpResourcesTool",
        "ReadMcpResourceTool",
        "Agent",
        "SendMessage",
        "ReportFindings",
        "StructuredOutput",
        "EnterPlanMode",
    ]
)
PRIMARY_FIELDS = frozenset({"command", "file_path", "path", "notebook_path", "url"})


def decide(tool: str, input: dict[str, object], s: Situation) -> Decision:
    """Decide on one tool call."""
    decision = _by_rules(tool, input, s)
    if decision.verdict == "ask":
        return _without_a_person(tool, decision, s)
    return decision


def removed(tool: str, rules: list[Rule]) -> bool:
    """Whether a bare deny rule takes the tool out of the session."""
    return any(rule.behavior == "deny" and rule.content is None and names(rule.tool, tool) for rule in rules)


def names(pattern: str, tool: str) -> bool:
    """Whether the tool part of a rule names a tool: exactly, as an MCP server, or with wildcards."""
    if pattern == tool:
        return True
    if tool.startswith("mcp__") and tool.startswith(pattern + "__") and pattern.count("__") == 1:
        return True
    if "*" not in pattern:
        return False
    return re.fullmatch(".*".join(re.escape(piece) for piece in pattern.split("*")), tool) is not None


def _by_rules(tool: str, input: dict[str, object], s: Situation) -> Decision:
    denied = _bare(tool, "deny", s)
    if denied:
        return Decision("deny", f"Permission to use {tool} has been denied.", reason_type="rule", rule=denied)
    parameter = _parameter(tool, input, "deny", s)
    if parameter:
        text = f"Permission to use {tool} with {parameter.content} has been denied."
        return Decision("deny", text, reason_type="rule", rule=parameter)
    specific = _specific(tool, input, s)
    if specific.verdict == "deny":
        return specific
    asked = _bare(tool, "ask", s) or _parameter(tool, input, "ask", s)
    if asked:
        return Decision("ask", _generic(tool), reason_type="rule", rule=asked)
    if tool == "Bash":
        return specific
    if specific.verdict == "ask" and specific.reason_type in ("rule", "safetyCheck"):
        if not (s.mode == "bypassPermissions" and specific.reason_type == "safetyCheck" and tool != "Bash"):
            return specific
    if tool in INTERACTIVE:
        return Decision("ask", _generic(tool), requires_interaction=True)
    if s.mode == "bypassPermissions":
        return Decision("allow", reason_type="mode")
    if s.mode == "plan" and tool in WRITE_TOOLS:
        return specific.changed(verdict="ask", reason_type="mode", suggestions=[accept_edits()])
    allowed = _bare(tool, "allow", s)
    if allowed:
        return Decision("allow", reason_type="rule", rule=allowed)
    return specific


def _specific(tool: str, input: dict[str, object], s: Situation) -> Decision:
    if tool == "Bash":
        command = input.get("command")
        return decide_bash(command if isinstance(command, str) else "", s)
    if tool in READ_TOOLS:
        return decide_read(tool, path_of(tool, input, s), s)
    if tool in WRITE_TOOLS:
        return decide_write(tool, path_of(tool, input, s), s)
    if tool == "WebFetch":
        return decide_fetch(input, s)
    if tool in ("Agent", "Task", "Skill"):
        return _named(tool, input, s)
    if tool in FREE_TOOLS:
        return Decision("allow")
    return Decision("ask", _generic(tool), suggestions=[_always(tool)])


def _named(tool: str, input: dict[str, object], s: Situation) -> Decision:
    kind = "Skill" if tool == "Skill" else "Agent"
    value = input.get("skill") or input.get("command") if kind == "Skill" else input.get("subagent_type")
    name = str(value or "")
    for behavior in ("deny", "ask", "allow"):
        for rule in s.having(behavior):
            if rule.tool == kind and rule.content is not None and _names_value(rule.content, name):
                return _by_name(kind, name, rule)
    if kind == "Agent":
        return Decision("allow")
    return Decision("ask", f"Execute skill: {name}", suggestions=[_always(tool)])


def _by_name(kind: str, name: str, rule: Rule) -> Decision:
    if rule.behavior != "deny":
        return Decision(rule.behavior, _generic(kind), reason_type="rule", rule=rule)
    text = "Skill execution blocked by permission rules"
    if kind == "Agent":
        text = f"Agent type '{name}' has been denied by permission rule '{rule.text}' from {rule.source}."
    return Decision("deny", text, reason_type="rule", rule=rule, tool_error=True)


def _names_value(content: str, name: str) -> bool:
    if content.endswith(":*"):
        return name.startswith(content[:-2])
    return content == name


def _bare(tool: str, behavior: str, s: Situation) -> Rule | None:
    for rule in s.having(behavior):
        if rule.content is None and names(rule.tool, tool):
            return rule
    return None


def _parameter(tool: str, input: dict[str, object], behavior: str, s: Situation) -> Rule | None:
    for rule in s.having(behavior):
        field, colon, wanted = (rule.content or "").partition(":")
        if not colon or field in PRIMARY_FIELDS or field not in input or not names(rule.tool, tool):
            continue
        value = input[field]
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if re.fullmatch(".*".join(re.escape(piece) for piece in wanted.split("*")), text):
            return rule
    return None


def _without_a_person(tool: str, decision: Decision, s: Situation) -> Decision:
    if s.mode == "dontAsk":
        text = f"Permission to use {tool} has been denied because Claude Code is running in don't ask mode."
        return decision.changed(verdict="deny", message=text, reason_type="mode")
    if s.deny_instead_of_prompting:
        return decision.changed(verdict="deny")
    return decision


def _generic(tool: str) -> str:
    return f"Claude requested permissions to use {tool}, but you haven't granted it yet."


def _always(tool: str) -> dict[str, object]:
    return {
        "type": "addRules",
        "rules": [{"toolName": tool}],
        "behavior": "allow",
        "destination": "localSettings",
    }
