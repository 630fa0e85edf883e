"""The words in which answers of hooks reach the model, and the limit on their length."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from forge.agent.hooks.answer import Answer
from forge.agent.hooks.fold import DEFAULT_STOP, PROMPTS
from forge.agent.hooks.port import Outcome, Told, added_at_end
from forge.foundation.hookspec import Can, HookSpec

MAX_CHARS = 10_000
_PREVIEW = 2_000
# In their contexts the name stands without the match value.
_SHORT = ("SessionStart", "SubagentStart")
_AFTER_THE_FACT = ("PostToolUse", "PostToolUseFailure")
_STOPS = ("PreToolUse", "PostToolUse", "PostToolBatch")
_TURN_ENDS = ("Stop", "SubagentStop")


def texts(
    spec: HookSpec, name: str, tool_use_id: str, answers: Sequence[Answer], outcome: Outcome
) -> list[Told]:
    """What the model is told, in the order of the answers; contexts of one event are one text."""
    facts = {"hookName": name, "toolUseID": tool_use_id, "hookEvent": spec.name}
    told: list[Told] = []
    if spec.name in PROMPTS:
        return _one_by_one(spec, facts, answers, outcome)
    if outcome.plain and Can.CONTEXT in spec.can:
        told += [
            Told("hook_success", f"{name} hook success: {a.plain}", {**facts, **_run_facts(a)})
            for a in answers
            if a.plain
        ]
    if outcome.context and spec.name in _TURN_ENDS:
        # Without any objection they are a reminder of their own.
        words = added_at_end(outcome.context) if outcome.blocks else ""
    else:
        label = spec.name if spec.name in _SHORT else name
        words = f"{label} hook additional context: " + "\n".join(outcome.context)
    added = [Told("hook_additional_context", words, {**facts, "content": outcome.context})]
    added = added if outcome.context and words else []
    objections = _objections(spec, name, facts, outcome)
    return [*told, *objections, *added] if spec.name in _AFTER_THE_FACT else [*told, *added, *objections]


def _one_by_one(
    spec: HookSpec, facts: dict[str, Any], answers: Sequence[Answer], outcome: Outcome
) -> list[Told]:
    """What hooks say to a prompt, each in its turn."""
    told: list[Told] = []
    for answer in answers if not (outcome.blocks or outcome.end_turn) else ():
        output = answer.output
        specific = output.hook_specific_output if output is not None else None
        if answer.plain:
            words = f"{spec.name} hook success: {answer.plain}"
            told.append(Told("hook_success", words, {**facts, **_run_facts(answer)}))
        elif specific is not None and specific.additional_context:
            context = specific.additional_context
            words = f"{spec.name} hook additional context: {context}"
            told.append(Told("hook_additional_context", words, {**facts, "content": [context]}))
    return told


def _objections(spec: HookSpec, name: str, facts: dict[str, Any], outcome: Outcome) -> list[Told]:
    told: list[Told] = []
    if spec.name in _AFTER_THE_FACT or spec.name in _TURN_ENDS:
        shown = name if spec.name in _AFTER_THE_FACT else spec.name
        told += [
            Told(
                "hook_blocking_error",
                f'{shown} hook blocking error from command: "{b.label}": {b.text}',
                {**facts, "blockingError": {"blockingError": b.text, "command": b.label}},
            )
            for b in outcome.blocks
            # The feedback of a turn's end says what was said by exit code already.
            if spec.name in _AFTER_THE_FACT or not b.by_exit
        ]
    ended = outcome.end_turn or (spec.name == "PostToolBatch" and outcome.blocks)
    if ended and spec.name in _STOPS:
        why = outcome.stop_reason or (outcome.blocks[0].text if outcome.blocks else "") or DEFAULT_STOP
        said = outcome.stop_reason if outcome.end_turn else why
        text = f"{name} hook stopped continuation: {said or DEFAULT_STOP}"
        told.append(Told("hook_stopped_continuation", text, {**facts, "message": said or DEFAULT_STOP}))
    return told


def _run_facts(answer: Answer) -> dict[str, Any]:
    run = answer.run
    return {
        "content": answer.plain,
        "stdout": run.stdout,
        "stderr": run.stderr,
        "exitCode": run.exit_code,
        "command": run.hook.label,
        "durationMs": round(run.duration_ms),
    }


def bounded(answer: Answer, folder: str, mark: str) -> Answer:
    """The answer with texts that are too long kept in files instead; reasons and feedback stay whole."""
    output = answer.output
    if len(answer.plain) > MAX_CHARS:
        answer = msgspec.structs.replace(answer, plain=kept(answer.plain, folder, mark, "1-stdout"))
    if output is None:
        return answer
    specific = output.hook_specific_output
    if specific is not None and len(specific.additional_context or "") > MAX_CHARS:
        words = kept(specific.additional_context or "", folder, mark, "1-additionalContext")
        specific = msgspec.structs.replace(specific, additional_context=words)
        output = msgspec.structs.replace(output, hook_specific_output=specific)
    return msgspec.structs.replace(answer, output=output)


def kept(text: str, folder: str, mark: str, what: str) -> str:
    """The beginning of a long text and the file that holds all of it."""
    path = os.path.join(folder, f"hook-{mark}-{os.urandom(4).hex()}-{what}.txt")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        where = f"It could not be saved: {error.strerror}"
    else:
        where = f"Full output saved to: {path}"
    return (
        f"<persisted-output>\nOutput too large ({len(text) / 1024:.1f}KB). {where}\n\n"
        f"Preview (first 2KB):\n{text[:_PREVIEW]}\n...\n</persisted-output>"
    )
