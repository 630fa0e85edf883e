"""Whether a call may run: rules first, then hooks, then whoever can be asked; without anybody, no."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from forge.agent.done import Done, failure, input_failure
from forge.agent.event import Denial, Denied
from forge.agent.guard.guarding import SHELL_TOOLS, forbidden_call, guarded, kept_updates, settled_call
from forge.agent.hooks.port import NOT_EXECUTED, Outcome
from forge.agent.hooks.sites import (
    hook_input,
    refused_call,
    rewritten,
    server_of,
    suggestions,
    tell_unchecked,
)
from forge.agent.hooks.state import HookState
from forge.agent.host import Allow, AskPermission
from forge.agent.session import Session
from forge.agent.skills.rights import decide_call
from forge.core.message import ToolUse
from forge.core.tool import Tool
from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.links import misleading
from forge.foundation.permissions.situation import Decision

# What hosts read when no rule was needed: the parts of a command are harmless, or the mode allows the file.
_BY_NATURE = {
    **dict.fromkeys(("Bash", "Monitor"), "subcommandResults"),
    **dict.fromkeys(("Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep"), "mode"),
}


# Reasons that are named even where nobody could be asked.
_TOLD_IN_VAIN = ("safetyCheck", "hook", "classifier", "mode", "workingDir", "other")

# What a hook that refuses a permission without a word is taken to have said.
DENIED = "Permission denied by hook"
NO_CLASSIFIER = "Classifier unavailable"
UNCHECKED = (
    "Auto mode is unavailable: its safety check does not run for this session, so {} was not run. Other"
    " actions that need the check will be denied too, and retrying won't help. Finish what you can without"
    " them."
)


class Verdict(msgspec.Struct, frozen=True):
    """The settled question: the call as it may run, or the result that refuses it.

    `lasting` is a permission that outlives the session.
    """

    call: ToolUse
    meta: dict[str, Any]
    refused: Done | None = None
    lasting: bool = False


async def permit(s: Session, call: ToolUse, tool: Tool, hooked: Outcome) -> Verdict:
    """Settles whether `call` may run, remembering what the user wants remembered."""
    verdict = await _permitted(s, call, tool, hooked)
    if tool.name not in SHELL_TOOLS:
        return verdict
    denial = forbidden_call(s, call)
    if verdict.refused is None and verdict.call is not call:
        # Whoever changed the command may not have known what it does.
        denial = await guarded(s, verdict.call, tool.name, Decision("allow"))
    if verdict.refused is None and denial is not None and denial.verdict == "deny":
        verdict = _denied(s, verdict.call, denial, kind="permission-rule")
    told = {"refused": verdict.refused is not None, "lasting": verdict.lasting}
    settled_call(s, verdict.call, tool.name, verdict.meta, **told)
    return verdict


async def _permitted(s: Session, call: ToolUse, tool: Tool, hooked: Outcome) -> Verdict:
    if hooked.verdict == "deny":
        named = "" if hooked.reason.endswith(NOT_EXECUTED) else f"PreToolUse:{tool.name} hook error: "
        return _refused(s, call, f"{named}{hooked.reason}", _by_hook(call))
    decision = misleading(tool.name, hook_input(s, call).get("file_path"))
    decision = decision or await guarded(s, call, tool.name, decide_call(s, call, tool.name))
    if decision.verdict == "allow" and hooked.verdict not in ("ask", "defer"):
        why = decision.reason_type or _BY_NATURE.get(tool.name)
        return Verdict(call, _meta(call, "accept", "config", why))
    if decision.verdict == "deny":
        return await _forbidden(s, call, decision, silent=hooked.verdict == "allow")
    if hooked.verdict in ("ask", "defer"):
        return await _confirm(s, call, tool, hooked.reason)
    # A plan is to be made first, whatever a hook thinks of a single call.
    final = s.situation.mode == "plan" or decision.reason_type in ("rule", "safetyCheck")
    if hooked.verdict == "allow" and not final:
        return Verdict(call, _meta(call, "accept", "hook", "hook"))
    return await _ask(s, call, decision, over_hook=hooked.verdict == "allow")


def forbidden(s: Session, call: ToolUse) -> Done | None:
    """The refusal of a call that path rules forbid, which the protocol reports as a tool error."""
    decision = decide(call.name, call.input, s.situation)
    if decision.verdict != "deny" or not decision.tool_error:
        return None
    s.turn.denials.append(Denial(call.name, call.id, call.input))
    return input_failure(call, decision.message)


async def _forbidden(s: Session, call: ToolUse, decision: Decision, *, silent: bool) -> Verdict:
    """A refusal by the rules; one that outweighs a hook is told to nobody but the model."""
    if silent:
        meta = _meta(call, "reject", "config", decision.reason_type)
        meta["non_execution_kind"] = "permission-rule"
        return _refused(s, call, decision.message, meta, counted=decision.counted)
    if decision.reason_type == "classifier":
        await refused_call(s, call, decision.reason or decision.message)
    return _denied(s, call, decision, kind="permission-rule")


async def _ask(s: Session, call: ToolUse, decision: Decision, *, over_hook: bool = False) -> Verdict:
    if s.situation.deny_instead_of_prompting:
        return _denied(s, call, decision, kind="user-rejected")
    # What a rule or the tool itself wants to be asked is asked in every mode.
    if s.situation.mode == "auto" and decision.reason_type != "rule" and not decision.requires_interaction:
        return await _unchecked(s, call, decision)
    requested = await _requested(s, call, decision)
    if requested.retry:
        requested = await _requested(s, call, decision)  # once more and no further
    if requested.verdict == "allow":
        return _granted(s, call, requested)
    if requested.verdict == "deny":
        return _denied_by_hook(s, call, requested)
    return await _asked(s, call, decision, over_hook=over_hook)


async def _requested(s: Session, call: ToolUse, decision: Decision) -> Outcome:
    """PermissionRequest: what hooks say before anybody is asked."""
    return await s.hooks.fire(
        "PermissionRequest",
        tool_name=call.name,
        tool_input=hook_input(s, call),
        **suggestions(s, decision),
        **server_of(s, call),
    )


async def _unchecked(s: Session, call: ToolUse, decision: Decision) -> Verdict:
    """In auto mode a check would decide; there is none, so the call is refused, and hooks hear of it."""
    words = UNCHECKED.format(call.name)
    decision = decision.changed(message=words, reason_type="classifier", reason=NO_CLASSIFIER)
    verdict = _denied(s, call, decision, kind="automode-unavailable")
    await refused_call(s, call, NO_CLASSIFIER)
    return verdict


def _granted(s: Session, call: ToolUse, requested: Outcome) -> Verdict:
    """The call as a hook wants it, unless a rule forbids that one."""
    s.remember(requested.updated_permissions or [])
    tool = s.find_tool(call.name)
    if requested.updated_input is not None and tool is not None:
        call, wrong = rewritten(s, call, tool, requested.updated_input, "PermissionRequest")
        if wrong is not None:
            words = str(wrong.result.content)
            s.emit(Denied(call, words, "hook", words))
            return Verdict(call, _by_hook(call), wrong)
        decision = decide(call.name, call.input, s.situation)
        if decision.verdict == "deny":
            return _denied(s, call, decision, kind="permission-rule")
    return Verdict(call, _meta(call, "accept", "hook", "hook"))


def _denied_by_hook(s: Session, call: ToolUse, requested: Outcome) -> Verdict:
    told = None if requested.reason == DENIED else requested.reason
    means = getattr(getattr(s.hooks, "outer", s.hooks), "means", None)
    if means is None or not means.asks:
        s.emit(Denied(call, requested.reason, "hook", told))
    if requested.interrupt:
        s.keep(HookState).interrupted = True
        s.interrupt()
    return _refused(s, call, requested.reason, _by_hook(call))


async def _confirm(s: Session, call: ToolUse, tool: Tool, reason: str) -> Verdict:
    """A hook wants somebody to confirm the call; without anybody, no."""
    words = reason or f"Hook PreToolUse:{tool.name} asked for confirmation for this tool"
    return await _asked(s, call, Decision("ask", words, reason_type="hook", reason=reason))


async def _asked(s: Session, call: ToolUse, decision: Decision, *, over_hook: bool = False) -> Verdict:
    shown = ToolUse(call.id, call.name, hook_input(s, call))
    try:
        answer = await s.host.ask(AskPermission(shown, decision))
    except asyncio.CancelledError:
        s.turn.denials.append(Denial(call.name, call.id, shown.input))
        raise
    if isinstance(answer, Allow):
        s.remember(kept_updates(s, call, answer.updates))
        lasting = any(update.get("destination") != "session" for update in answer.updates)
        meta = _meta(call, "accept", answer.kind or "user_temporary")
        changed = answer.updated_input not in (None, shown.input)
        return Verdict(_with_input(call, answer.updated_input) if changed else call, meta, lasting=lasting)
    if answer.why is not None:
        decision = decision.changed(reason_type=answer.why[0], reason=answer.why[1])
        return _denied(s, call, decision, kind="permission-rule", words=answer.message)
    if not answer.asked:
        # A rule that outweighs a hook is named like one that forbids.
        kind = "permission-rule" if over_hook and decision.reason_type == "rule" else "user-rejected"
        return _denied(s, call, decision, kind=kind, words=answer.message)
    meta = {**_meta(call, "reject", answer.kind or "user_reject"), "non_execution_kind": "permission-rule"}
    refused = _refused(s, call, answer.message, meta)
    if answer.interrupt and s.interrupt():
        raise asyncio.CancelledError  # the call ends like every other one of the turn
    return refused


def _with_input(call: ToolUse, updated: dict[str, Any] | None) -> ToolUse:
    if updated is None or updated == call.input:
        return call
    return ToolUse(call.id, call.name, updated)


def _denied(s: Session, call: ToolUse, decision: Decision, *, kind: str, words: str = "") -> Verdict:
    """A refusal nobody was asked about; hosts hear of it in an event of its own."""
    message = words or decision.message
    asked_in_vain = kind == "user-rejected"
    silent = asked_in_vain and decision.reason_type not in _TOLD_IN_VAIN
    reason_type = None if silent else decision.reason_type
    code = None
    if reason_type == "classifier":
        code = "auto_mode_no_check_in_session"
        tell_unchecked(s)
    # An ask rule is named to hosts if it says more than the name of the tool.
    asked = silent and decision.reason_type == "rule" and decision.rule is not None and decision.rule.content
    s.emit(Denied(call, message, "rule" if asked else reason_type, decision.reason, code))
    told = reason_type if not asked_in_vain or reason_type in ("hook", "classifier") else None
    meta = {**_meta(call, "reject", "config", told), "non_execution_kind": kind}
    return _refused(s, call, message, meta, counted=decision.counted)


def _refused(
    s: Session, call: ToolUse, message: str, meta: dict[str, Any], *, counted: bool = True
) -> Verdict:
    if counted:
        s.turn.denials.append(Denial(call.name, call.id, hook_input(s, call)))
    return Verdict(call, meta, msgspec.structs.replace(failure(call, message), meta=meta))


def _by_hook(call: ToolUse) -> dict[str, Any]:
    return {**_meta(call, "reject", "hook", "hook"), "non_execution_kind": "permission-rule"}


def _meta(call: ToolUse, decision: str, source: str, reason_type: str | None = None) -> dict[str, Any]:
    told = {"decision": decision, "source": source}
    if reason_type:
        told["reason_type"] = reason_type
    return {"id": call.id, "permission_decision": told}
