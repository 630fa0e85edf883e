"""Judges the JSON a hook printed as the reference does: the first thing that is wrong, in known words."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.foundation.hookspec import EVENTS

Kind = str | tuple[str, ...]  # a type, or the values to choose from; "" is anything

_TOP: dict[str, Kind] = {
    "continue": "boolean",
    "suppressOutput": "boolean",
    "stopReason": "string",
    "decision": ("approve", "block"),
    "reason": "string",
    "systemMessage": "string",
    "terminalSequence": "string",
    "hookSpecificOutput": "object",
}
_VERDICT: dict[str, Kind] = {
    "permissionDecision": ("allow", "deny", "ask", "defer"),
    "permissionDecisionReason": "string",
}
_REPLY: dict[str, Kind] = {"action": ("accept", "decline", "cancel"), "content": "object"}
_CONTEXT: dict[str, Kind] = {"additionalContext": "string"}
_WATCH: dict[str, Kind] = {"watchPaths": "array"}
# What the part of each event may have; the others have a context at most.
_SPECIFIC: dict[str, dict[str, Kind]] = {
    "PreToolUse": {**_VERDICT, "updatedInput": "object", **_CONTEXT},
    "UserPromptSubmit": {**_CONTEXT, "sessionTitle": "string", "suppressOriginalPrompt": "boolean"},
    "UserPromptExpansion": {**_CONTEXT, "suppressOriginalPrompt": "boolean"},
    "SessionStart": {
        **_CONTEXT,
        "initialUserMessage": "string",
        "sessionTitle": "string",
        **_WATCH,
        "reloadSkills": "boolean",
    },
    "PreModelSwitch": _VERDICT,
    "PostToolUse": {**_CONTEXT, "updatedToolOutput": "", "updatedMCPToolOutput": ""},
    "PermissionRequest": {"decision": "object"},
    "PermissionDenied": {"retry": "boolean"},
    "MessageDisplay": {"displayContent": "string"},
    "Elicitation": _REPLY,
    "ElicitationResult": _REPLY,
    "CwdChanged": _WATCH,
    "FileChanged": _WATCH,
    "WorktreeCreate": {"worktreePath": "string"},
}
_ALL = {name: kind for row in _SPECIFIC.values() for name, kind in row.items()}
_NAMES = '"PreToolUse" | "UserPromptSubmit" | "UserPromptExpansion" | "SessionStart" | "Setup"'


def fault(value: dict[str, Any], event: str) -> str:
    """Why an object is no answer to an event, with the object; empty if it is one."""
    specific = value.get("hookSpecificOutput")
    named = specific.get("hookEventName") if isinstance(specific, dict) else None
    problem = _first(value, _TOP, "") or _in_specific(specific)
    if problem:
        return f"Hook JSON output validation failed — {problem}\n\nThe hook's output was: {_shown(value)}"
    if named is not None and named != event:
        told = f"Hook returned incorrect event name: expected '{event}' but got '{named}'."
        return f"Failed to run: {told} Full stdout: {_shown(value)}"
    return ""


def without_strangers(specific: dict[str, Any], event: str) -> dict[str, Any]:
    """The event's own part without what belongs to other events and could not be read."""
    row = _SPECIFIC.get(event, _CONTEXT)
    return {
        name: value
        for name, value in specific.items()
        if name in row or name not in _ALL or not _problem(value, _ALL[name])
    }


def _in_specific(specific: Any) -> str:
    if specific is None:
        return ""
    where = "hookSpecificOutput"
    if "hookEventName" not in specific:
        return f'{where} is missing required field "hookEventName"'
    named = specific["hookEventName"]
    if named not in EVENTS:
        return f'{where}.hookEventName: expected one of {_NAMES} | "PreModelSwitch" | …'
    return _first(specific, _SPECIFIC.get(named, _CONTEXT), f"{where}.")


def _first(value: dict[str, Any], row: dict[str, Kind], where: str) -> str:
    for name, kind in row.items():
        if name in value and (problem := _problem(value[name], kind)):
            return f"{where}{name}: {problem}"
    return ""


def _problem(value: Any, kind: Kind) -> str:
    if isinstance(kind, tuple):
        if value in kind:
            return ""
        choices = "|".join(f'"{choice}"' for choice in kind)
        return f"Invalid option: expected one of {choices}"
    found = _type(value)
    return f"expected {kind}, received {found}" if kind and kind != found else ""


def _type(value: Any) -> str:
    if value is None:
        return "null"
    for name, kind in (("boolean", bool), ("string", str), ("array", list), ("object", dict)):
        if isinstance(value, kind):
            return name
    return "number"


def _shown(value: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
