"""Folds the answers of one event, in the order they came, into one outcome. A pure function.

What an event's row in the table does not allow is left out here, so no other place has to check it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from forge.agent.hooks.answer import Answer
from forge.agent.hooks.output import Output, Specific
from forge.agent.hooks.port import Block, Outcome
from forge.foundation.hookspec import HOOKS, Can, HookSpec

DEFAULT_BLOCK = "Blocked by hook"
DEFAULT_STOP = "Execution stopped by hook"
_RANK = {"": -1, "allow": 0, "ask": 1, "defer": 2, "deny": 3}
_NONE = Specific("")
# Here the first objection is the last word.
PROMPTS = ("UserPromptSubmit", "UserPromptExpansion")

Changes = dict[str, Any]


def fold(event: str, answers: Sequence[Answer]) -> Outcome:
    """The outcome of an event from its answers in the order of completion."""
    spec = HOOKS[event]
    outcome = Outcome()
    for answer in answers:
        changes = _changes(outcome, spec, answer)
        outcome = msgspec.structs.replace(outcome, **changes) if changes else outcome
    # The block of a prompt counts alone: what other hooks had to add belongs to a prompt that is gone.
    if spec.name in PROMPTS and outcome.blocks:
        return msgspec.structs.replace(outcome, context=[], plain=[])
    return outcome


def _changes(so_far: Outcome, spec: HookSpec, answer: Answer) -> Changes:
    output = answer.output or Output()
    changes: Changes = {}
    if spec.name in PROMPTS and (so_far.blocks or so_far.end_turn):
        return changes
    for ability, join in _JOINS:
        if ability in spec.can:
            changes |= join(so_far, spec, answer, output)
    if answer.outcome == "error":
        changes["errors"] = so_far.errors + 1
    return changes


def _decide(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    if spec.name == "PermissionRequest":
        return _permission(so_far, answer, output)
    verdict, reason = _verdict(answer, output)
    # Among several denials the last is told, among several questions the first.
    stronger = _RANK[verdict] > _RANK[so_far.verdict] or verdict == so_far.verdict == "deny"
    return {"verdict": verdict, "reason": reason} if verdict and stronger else {}


def _verdict(answer: Answer, output: Output) -> tuple[str, str]:
    specific = output.hook_specific_output or _NONE
    told = specific.permission_decision_reason or ""
    if specific.permission_decision == "deny":
        return "deny", told or output.reason or answer.block or DEFAULT_BLOCK
    if output.decision == "block":
        return "deny", output.reason or answer.block or DEFAULT_BLOCK
    if answer.block is not None:
        return "deny", answer.block
    if specific.permission_decision:
        return specific.permission_decision, told
    return ("allow", output.reason or "") if output.decision == "approve" else ("", "")


def _permission(so_far: Outcome, answer: Answer, output: Output) -> Changes:
    if so_far.verdict:
        return {}
    specific = output.hook_specific_output or _NONE
    decision = specific.decision
    if decision is None:
        return {"verdict": "deny", "reason": answer.block} if answer.failed else {}
    if decision["behavior"] == "deny":
        reason = decision.get("message") or "Permission denied by hook"
        return {"verdict": "deny", "reason": reason, "interrupt": bool(decision.get("interrupt"))}
    return {
        "verdict": "allow",
        "updated_input": decision.get("updatedInput"),
        "updated_permissions": decision.get("updatedPermissions"),
    }


def _rewrite(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    specific = output.hook_specific_output
    if spec.name == "PermissionRequest" or specific is None or specific.updated_input is None:
        return {}
    return {"updated_input": specific.updated_input}


def _block(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    label = answer.run.hook.label
    if output.decision == "block":
        said = output.reason or (answer.run.stderr.strip() if answer.block else "")
        named = answer.run.hook.kind == "agent"  # its words say already that they come from a hook
        return {"blocks": [*so_far.blocks, Block(label, said or DEFAULT_BLOCK, by_exit=named, bare=said)]}
    if answer.block is None:
        return {}
    bare = answer.run.stderr.strip()
    block = Block(label, answer.block, by_exit=True, bare=bare, failed=answer.failed)
    return {"blocks": [*so_far.blocks, block]}


def _context(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    specific = output.hook_specific_output
    if specific is None or not specific.additional_context:
        return {}
    return {"context": [*so_far.context, specific.additional_context]}


def _plain(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    return {"plain": [*so_far.plain, answer.plain]} if answer.plain else {}


def _stop(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    if output.continue_:
        return {}
    return {"end_turn": True, "stop_reason": output.stop_reason or so_far.stop_reason}


def _replace(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    specific = output.hook_specific_output or _NONE
    changes: Changes = {}
    for given in (specific.updated_m_c_p_tool_output, specific.updated_tool_output):
        if given is not msgspec.UNSET:
            changes["tool_output"] = given
    if specific.display_content is not None:
        changes["display"] = specific.display_content
    return changes


def _watch(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    paths = (output.hook_specific_output or _NONE).watch_paths
    return {"watch": [*so_far.watch, *paths]} if paths else {}


def _start(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    specific = output.hook_specific_output or _NONE
    return {
        "title": specific.session_title or so_far.title,
        "first_prompt": specific.initial_user_message or so_far.first_prompt,
        "suppress_prompt": specific.suppress_original_prompt or so_far.suppress_prompt,
    }


def _answer(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    specific = output.hook_specific_output or _NONE
    if answer.block is not None or output.decision == "block":
        return {"action": "decline", "content": None}
    return {"action": specific.action, "content": specific.content} if specific.action else {}


def _place(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    told = (output.hook_specific_output or _NONE).worktree_path
    lines = [line.strip() for line in answer.plain.splitlines() if line.strip()]
    path = told or (lines[-1] if lines else "")
    return {"place": path} if path and not so_far.place else {}


def _retry(so_far: Outcome, spec: HookSpec, answer: Answer, output: Output) -> Changes:
    return {"retry": so_far.retry or (output.hook_specific_output or _NONE).retry}


_JOINS: tuple[tuple[Can, Callable[[Outcome, HookSpec, Answer, Output], Changes]], ...] = (
    (Can.DECIDE, _decide),
    (Can.REWRITE, _rewrite),
    (Can.BLOCK, _block),
    (Can.CONTEXT, _context),
    (Can.PLAIN, _plain),
    (Can.STOP, _stop),
    (Can.OUTPUT, _replace),
    (Can.WATCH, _watch),
    (Can.START, _start),
    (Can.ANSWER, _answer),
    (Can.PLACE, _place),
    (Can.RETRY, _retry),
)
