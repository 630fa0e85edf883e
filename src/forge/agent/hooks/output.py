"""What a hook has printed, as far as it is an answer: checked against the schema, all spellings made one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON


class Specific(msgspec.Struct, frozen=True, rename="camel"):
    """The part of an answer that belongs to its event."""

    hook_event_name: str
    permission_decision: str | None = None
    permission_decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[dict[str, Any]] | None = None
    additional_context: str | None = None
    decision: dict[str, Any] | None = None
    interrupt: bool = False
    retry: bool = False
    updated_tool_output: Any = msgspec.UNSET
    updated_m_c_p_tool_output: Any = msgspec.field(default=msgspec.UNSET, name="updatedMCPToolOutput")
    initial_user_message: str | None = None
    session_title: str | None = None
    watch_paths: list[str] | None = None
    suppress_original_prompt: bool = False
    display_content: str | None = None
    action: str | None = None
    content: dict[str, Any] | None = None
    worktree_path: str | None = None
    reload_skills: bool = False


class Output(msgspec.Struct, frozen=True, rename="camel"):
    """An answer in JSON."""

    continue_: bool = msgspec.field(default=True, name="continue")
    stop_reason: str | None = None
    decision: str | None = None
    reason: str | None = None
    system_message: str | None = None
    hook_specific_output: Specific | None = None
    async_: bool = msgspec.field(default=False, name="async")
    async_timeout: float | None = None


class Wrong(msgspec.Struct, frozen=True):
    """Output that is an object but no valid answer."""

    problem: str


# What a change of permissions must have beside its type.
_UPDATES = {
    "addRules": "rules",
    "replaceRules": "rules",
    "removeRules": "rules",
    "setMode": "mode",
    "addDirectories": "directories",
    "removeDirectories": "directories",
}
_DESTINATIONS = ("session", "localSettings", "projectSettings", "userSettings", "cliArg")
# Spellings of early documents, at the top level or in the specific part.
_OLD = {
    "permission_decision": "permissionDecision",
    "permission_decision_reason": "permissionDecisionReason",
    "updated_input": "updatedInput",
    "updated_permissions": "updatedPermissions",
    "additional_context": "additionalContext",
    "permissionDecision": "permissionDecision",
    "updatedInput": "updatedInput",
    "additionalContext": "additionalContext",
}


def parse_output(stdout: str, event: str) -> Output | Wrong | None:
    """The answer in a hook's output; None when the output is plain text."""
    text = stdout.strip()
    if not text.startswith("{"):
        return None
    try:
        value = msgspec.json.decode(text)
    except NOT_JSON:
        several = import_module("forge.agent.hooks.several").several_objects(text)
        return Wrong("Hook JSON output validation failed — more than one object") if several else None
    return check_output(value, event) if isinstance(value, dict) else None


def check_output(value: dict[str, Any], event: str) -> Output | Wrong:
    """An object as an answer to `event`, or what is wrong with it."""
    value, check = _normal(value, event), import_module("forge.agent.hooks.output_check")
    wrong = check.fault(value, event)
    if wrong:
        return Wrong(wrong)
    specific = value.get("hookSpecificOutput")
    if specific is not None:
        value = {**value, "hookSpecificOutput": check.without_strangers(specific, event)}
    try:
        output = msgspec.convert(value, Output)
    except msgspec.ValidationError as error:
        return Wrong(f"Hook JSON output validation failed — {error}")
    specific = output.hook_specific_output
    problem = "" if specific is None or specific.decision is None else _decision_problem(specific.decision)
    return Wrong(f"Hook JSON output validation failed — {problem}") if problem else output


def _decision_problem(decision: dict[str, Any]) -> str:
    behavior = decision.get("behavior")
    if behavior not in ("allow", "deny"):
        return f'decision.behavior must be "allow" or "deny", not {behavior!r}'
    updates = decision.get("updatedPermissions") or []
    if not isinstance(updates, list):
        return "decision.updatedPermissions must be a list"
    for update in updates:
        kind = update.get("type") if isinstance(update, dict) else None
        if kind not in _UPDATES or not isinstance(update.get(_UPDATES[kind]), list | str):
            return f"decision.updatedPermissions: {update!r} is no change of permissions"
        if update.get("destination") not in _DESTINATIONS:
            return f"decision.updatedPermissions: destination must be one of {', '.join(_DESTINATIONS)}"
    return ""


def _normal(value: dict[str, Any], event: str) -> dict[str, Any]:
    """The object with the spellings of early documents moved to where the answer has them today."""
    early = {_OLD[key]: value[key] for key in value if key in _OLD}
    specific = value.get("hookSpecificOutput")
    if early and specific is None:
        specific = {"hookEventName": event, **early}
    if not isinstance(specific, dict):
        return value
    specific = {_OLD.get(key, key): inner for key, inner in specific.items()}
    if event == "PermissionRequest" and "decision" not in specific and "permissionDecision" in specific:
        specific["decision"] = _as_decision(specific)
    return {**value, "hookSpecificOutput": specific}


def _as_decision(specific: dict[str, Any]) -> Any:
    """The early flat form of a permission answer; asking is what happens without any."""
    behavior = specific["permissionDecision"]
    if behavior == "ask":
        return None
    told = {"behavior": behavior, "message": specific.get("permissionDecisionReason")}
    for field in ("updatedInput", "updatedPermissions", "interrupt"):
        told[field] = specific.get(field)
    return {key: inner for key, inner in told.items() if inner is not None}
