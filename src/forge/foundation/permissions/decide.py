"""The decision on a tool call: deny rules, ask rules, safety checks, mode, allow rules."""

from __future__ import annotations

from forge.foundation.permissions.bash import decide_bash
from forge.foundation.permissions.files import (
    DENIED_BY_READ,
    READ_TOOLS,
    WRITE_TOOLS,
    decide_read,
    decide_write,
    path_of,
    readable,
)
from forge.foundation.permissions.monitor import decide_monitor
from forge.foundation.permissions.named import decide_agent, decide_skill
from forge.foundation.permissions.rule import LEGACY_NAMES
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.suggest import always
from forge.foundation.permissions.syntax import word_set
from forge.foundation.permissions.web import decide_fetch
from forge.foundation.permissions.wildcard import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation

__all__ = ["decide", "readable", "removed", "settled"]

INTERACTIVE = frozenset({"AskUserQuestion", "ExitPlanMode"})
FREE_TOOLS = word_set(
    """TodoWrite TaskCreate TaskGet TaskList TaskUpdate TaskStop TaskOutput BashOutput ToolSearch
    ListAgents ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool SendMessage
    ReportFindings StructuredOutput EnterPlanMode CronCreate CronDelete CronList ScheduleWakeup
    EnterWorktree ExitWorktree"""
)
MONITOR = "Monitor"
BY_CONTENT = {
    "Agent": decide_agent,
    MONITOR: decide_monitor,
    "Skill": decide_skill,
    "WebFetch": decide_fetch,
}
PRIMARY_FIELDS = frozenset({"command", "file_path", "path", "notebook_path", "url"})
NO_PROMPT = (
    "Permission for this tool use was denied. It requires approval, and nobody can be asked in this session."
)
DONT_ASK = (
    "Permission to use {} has been denied because Claude Code is running in don't ask mode. Go on without it,"
    " or tell the user what you wanted to do and why."
)


def decide(tool: str, input: dict[str, object], s: Situation) -> Decision:
    """Decide on one tool call."""
    name = LEGACY_NAMES.get(tool, tool)
    return settled(name, _by_rules(name, input, s), s)


def settled(name: str, decision: Decision, s: Situation) -> Decision:
    """The decision as the mode has it: where nobody is to be asked, a question is a refusal."""
    if decision.verdict != "ask":
        return decision
    if s.mode == "dontAsk":
        return decision.changed(
            verdict="deny", message=DONT_ASK.format(name), reason_type="mode", reason=None
        )
    if s.deny_instead_of_prompting:
        return decision.changed(verdict="deny", message=NO_PROMPT, reason_type="asyncAgent", reason=None)
    return decision


def removed(tool: str, rules: list[Rule]) -> bool:
    """Whether a bare deny rule takes the tool out of the session."""
    bare = [rule.tool for rule in rules if rule.behavior == "deny" and rule.content is None]
    return any(names(pattern, covered) for pattern in bare for covered in _covered_by(tool))


def names(pattern: str, tool: str) -> bool:
    """Whether the tool part of a rule names a tool: exactly, as an MCP server, or with wildcards."""
    tool = LEGACY_NAMES.get(tool, tool)
    if pattern == tool:
        return True
    if "*" in pattern:
        return matches(pattern.split("*"), tool)
    whole = pattern.startswith(("mcp__", "wasm__")) and pattern.count("__") == 1
    return whole and tool.startswith(pattern + "__")


def _by_rules(tool: str, input: dict[str, object], s: Situation) -> Decision:
    denied = _denied(tool, input, s)
    if denied:
        return denied
    specific = _specific(tool, input, s)
    if specific.verdict == "deny":
        return specific
    asked = _whole(tool, "ask", s) or _parameter(tool, input, "ask", s)
    if asked:
        return Decision("ask", _generic(tool), reason_type="rule", rule=asked)
    if tool in INTERACTIVE:
        return Decision("ask", _generic(tool), requires_interaction=True)
    if tool == "Bash" or (specific.verdict == "ask" and specific.reason_type == "rule"):
        return specific
    return _by_mode(tool, input, specific, s)


def _by_mode(tool: str, input: dict[str, object], specific: Decision, s: Situation) -> Decision:
    """The mode and rules for the whole tool, for everything but Bash."""
    if tool == MONITOR and specific.reason_type == "safetyCheck":
        return specific
    if s.mode == "bypassPermissions":
        return Decision("allow", reason_type="mode")
    if s.mode == "plan" and tool in WRITE_TOOLS and not _writes_plan(specific):
        text = f"Cannot write to {path_of(input, s)} while in plan mode."
        return Decision("ask", text, reason_type="mode")
    if specific.reason_type == "safetyCheck":
        return specific
    allowed = _bare(tool, "allow", s)
    return Decision("allow", reason_type="rule", rule=allowed) if allowed else specific


def _writes_plan(specific: Decision) -> bool:
    return specific.verdict == "allow" and specific.reason_type == "other"


def _denied(tool: str, input: dict[str, object], s: Situation) -> Decision | None:
    rule = _whole(tool, "deny", s)
    if rule:
        return Decision("deny", f"Permission to use {tool} has been denied.", reason_type="rule", rule=rule)
    rule = _parameter(tool, input, "deny", s)
    if rule:
        text = f"Permission to use {tool} with {rule.content} has been denied."
        return Decision("deny", text, reason_type="rule", rule=rule)
    rule = _bare("Read", "deny", s) if tool in WRITE_TOOLS else None
    if rule:
        return Decision("deny", DENIED_BY_READ, reason_type="rule", rule=rule, tool_error=True)
    return None


def _specific(tool: str, input: dict[str, object], s: Situation) -> Decision:
    if tool == "Bash":
        command = input.get("command")
        return decide_bash(command if isinstance(command, str) else "", s)
    if tool in READ_TOOLS:
        return decide_read(path_of(input, s), s)
    if tool in WRITE_TOOLS:
        return decide_write(tool, path_of(input, s), s)
    by_content = BY_CONTENT.get(tool)
    if by_content:
        return by_content(input, s)
    if tool in FREE_TOOLS:
        return Decision("allow")
    return Decision("ask", _generic(tool), suggestions=[always(tool)])


def _covered_by(tool: str) -> tuple[str, ...]:
    """The tools whose bare deny and ask rules cover a tool: watching a command is running one."""
    return (tool, "Bash") if tool == MONITOR else (tool,)


def _whole(tool: str, behavior: str, s: Situation) -> Rule | None:
    return next((rule for name in _covered_by(tool) if (rule := _bare(name, behavior, s))), None)


def _bare(tool: str, behavior: str, s: Situation) -> Rule | None:
    for rule in s.having(behavior):
        if rule.content is None and names(rule.tool, tool):
            return rule
    return None


def _parameter(tool: str, input: dict[str, object], behavior: str, s: Situation) -> Rule | None:
    """A rule `Tool(param:value)`; tools with a content grammar of their own have none."""
    if tool == "WebFetch":
        return None
    for rule in s.having(behavior):
        field, colon, wanted = (rule.content or "").partition(":")
        if not colon or field in PRIMARY_FIELDS or field not in input or not names(rule.tool, tool):
            continue
        value = input[field]
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if matches(wanted.strip().split("*"), text):
            return rule
    return None


def _generic(tool: str) -> str:
    return f"Claude requested permissions to use {tool}, but you haven't granted it yet."
