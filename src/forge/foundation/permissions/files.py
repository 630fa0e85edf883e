"""Decisions on reading and writing paths, for the file tools and for what shell commands touch."""

from __future__ import annotations

import os.path

from forge.foundation.permissions.pattern import matches_path
from forge.foundation.permissions.places import forms, inside, own_configuration, protected, resolve, within
from forge.foundation.permissions.situation import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation

DENIED_DIRECTORY = "File is in a directory that is denied by your permission settings."
READ_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead"})
WRITE_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
_PATH_FIELDS = ("file_path", "notebook_path", "path")


def path_of(tool: str, input: dict[str, object], s: Situation) -> str:
    """The absolute path a file tool works on; searching tools default to the current directory."""
    for field in _PATH_FIELDS:
        value = input.get(field)
        if isinstance(value, str) and value:
            return resolve(value, s)
    return s.cwd


def rule_on_path(kind: str, behavior: str, path: str, s: Situation) -> Rule | None:
    """The first rule `kind(pattern)` of a behavior that covers the path.

    A deny or ask rule counts if it covers the path or what it links to; an allow rule must cover both.
    """
    places = forms(path)
    for rule in s.rules:
        if rule.behavior != behavior or rule.tool != kind or rule.content is None:
            continue
        covered = [matches_path(rule, place, s) for place in places]
        if all(covered) if behavior == "allow" else any(covered):
            return rule
    return None


def readable(path: str, s: Situation) -> bool:
    """False for files that a Read deny rule hides from searches."""
    return rule_on_path("Read", "deny", resolve(path, s), s) is None


def decide_read(tool: str, path: str, s: Situation) -> Decision:
    """Decide on reading a path with a file tool, before modes and bare rules."""
    denied = rule_on_path("Read", "deny", path, s)
    if denied:
        return Decision("deny", DENIED_DIRECTORY, reason_type="rule", rule=denied, tool_error=True)
    asked = rule_on_path("Read", "ask", path, s)
    message = f"Claude requested permissions to read from {path}, but you haven't granted it yet."
    if asked:
        return Decision("ask", message, reason_type="rule", rule=asked, blocked_path=path)
    if may_read(path, s):
        return Decision("allow")
    return Decision(
        "ask",
        message,
        reason_type="workingDir",
        reason="Path is outside allowed working directories",
        blocked_path=path,
        suggestions=[read_suggestion(path)],
    )


def may_read(path: str, s: Situation) -> bool:
    """Whether reading needs no approval: a working directory, a free one, or a rule."""
    if inside(path, s) or within(path, s.free_read_dirs):
        return True
    return (
        rule_on_path("Read", "allow", path, s) is not None
        or rule_on_path("Edit", "allow", path, s) is not None
    )


def decide_write(tool: str, path: str, s: Situation) -> Decision:
    """Decide on writing a path with a file tool, before modes and bare rules."""
    denied = rule_on_path("Edit", "deny", path, s)
    if denied:
        return Decision("deny", DENIED_DIRECTORY, reason_type="rule", rule=denied, tool_error=True)
    hidden = rule_on_path("Read", "deny", path, s)
    if hidden:
        text = "File is covered by a Read deny rule in your permission settings and cannot be written."
        return Decision("deny", text, reason_type="rule", rule=hidden, tool_error=True)
    message = f"Claude requested permissions to write to {path}, but you haven't granted it yet."
    asked = rule_on_path("Edit", "ask", path, s)
    if asked:
        return Decision("ask", message, reason_type="rule", rule=asked, blocked_path=path)
    text = denied_write_reason(path, s)
    if text:
        return Decision("ask", text, reason_type="safetyCheck", reason=text, blocked_path=path)
    if s.mode != "plan" and may_write(path, s):
        return Decision("allow")
    return Decision("ask", message, suggestions=[accept_edits()], blocked_path=path)


def denied_write_reason(path: str, s: Situation) -> str:
    """Why no rule may approve writing a path; empty if one may."""
    if not protected(path):
        return ""
    if own_configuration(path):
        return f"Claude requested permissions to write to {path}, but you haven't granted it yet."
    return f"Claude requested permissions to edit {path} which is a sensitive file."


def may_write(path: str, s: Situation) -> bool:
    """Whether an unprotected path may be written without approval."""
    if s.mode == "acceptEdits" and inside(path, s):
        return True
    return rule_on_path("Edit", "allow", path, s) is not None


def accept_edits() -> dict[str, object]:
    """The suggestion to accept edits from now on."""
    return {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def read_suggestion(path: str) -> dict[str, object]:
    """The suggestion to allow reading the directory of a path."""
    directory = path if os.path.isdir(path) else os.path.dirname(path)
    content = "/" + directory.rstrip("/") + "/**"
    rule: dict[str, object] = {"toolName": "Read", "ruleContent": content}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
