"""The `if` of a handler: one permission rule the call must match. What cannot be read counts as a match."""

from __future__ import annotations

import re
from typing import Any

from forge.foundation.permissions.commandrule import matches_text
from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.files import READ_TOOLS, WRITE_TOOLS, path_of
from forge.foundation.permissions.parser import parse
from forge.foundation.permissions.pattern import matches_path
from forge.foundation.permissions.rule import LEGACY_NAMES, Rule, parse_rule
from forge.foundation.permissions.situation import Situation
from forge.foundation.permissions.syntax import text_of

_COMMANDS = ("Bash", "Monitor")


def meets(condition: str, payload: dict[str, Any], s: Situation) -> bool:
    """Whether the call in the payload of a tool event is one the condition speaks of."""
    tool, given = payload.get("tool_name"), payload.get("tool_input")
    rule = parse_rule(condition.removesuffix("()"), "allow", "userSettings", s.start_dir)
    if not isinstance(tool, str) or not isinstance(given, dict) or isinstance(rule, str):
        return False
    if not _names(rule.tool, LEGACY_NAMES.get(tool, tool)):
        return False
    if rule.content is None:
        return True
    if tool in _COMMANDS:
        return _command_meets(rule.content, str(given.get("command", "")), s)
    if tool in READ_TOOLS or tool in WRITE_TOOLS:
        return matches_path(rule, path_of(given, s), s)
    forbidding = Rule(rule.text, rule.tool, rule.content, "deny", rule.source, rule.anchor)
    return decide(tool, given, s.changed(rules=[forbidding])).verdict == "deny"


def _names(rule: str, tool: str) -> bool:
    if rule == tool:
        return True
    if rule.startswith("mcp__"):
        return re.fullmatch(re.escape(rule).replace(r"\*", ".*"), tool) is not None or tool.startswith(
            f"{rule}__"
        )
    return False


def _command_meets(content: str, command: str, s: Situation) -> bool:
    script = parse(command, s.home)
    if script.unclosed:
        return True
    substituted = any(simple.nested for simple in script.commands)
    if substituted:
        if script.piped or any(simple.redirects for simple in script.commands):
            return True
        # What the substitution brings may be the rest of the line the rule speaks of.
        if len(content.removesuffix(":*").removesuffix(" *").split()) > 1:
            return True
    return any(matches_text(content, text_of(simple.words)) for simple in script.commands)
