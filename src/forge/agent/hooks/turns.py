"""What the loop does with the answers of hooks: prompts that are refused, turns that may not end yet."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from forge.agent.background import Background
from forge.agent.ending import end
from forge.agent.event import HookNotice, HookSaid, TurnEnded
from forge.agent.hooks.port import NOTHING, Outcome, Told, added_at_end
from forge.agent.hooks.sites import displayed, take_asides, tell
from forge.agent.hooks.state import HookState
from forge.agent.noting import note
from forge.agent.session import Prompt, Session
from forge.agent.team.crew import Seat
from forge.core.job import JobView
from forge.core.message import Text
from forge.core.models.errors import final_word
from forge.core.reminder import reminder
from forge.foundation.errors import ModelError
from forge.foundation.origin import Scope

DEFAULT_CAP = 8
ERROR_KEY, CAP_KEY = "stop-hook-error", "stop-hook-block-cap"
ERROR_TEXT = "Stop hook error occurred · ctrl+o to see"
_TYPES = {"local_bash": "shell", "local_agent": "subagent"}


class Submitted(msgspec.Struct, frozen=True):
    """A prompt that hooks have seen: what they add to it, or how the turn ends instead."""

    told: list[Told] = []
    ended: TurnEnded | None = None


class Expansion(msgspec.Struct, frozen=True):
    """A typed `/name arguments`; `kind` is slash_command or mcp_prompt, `source` the scope it comes from."""

    name: str
    arguments: str
    prompt: str
    source: str = ""
    kind: str = "slash_command"


def begin_prompt(s: Session, prompt: Prompt) -> None:
    """From here on hooks can tell which prompt they run for."""
    if s.keep(Seat).depth == 0:
        s.keep(HookState).prompt_id = prompt.uuid


async def submit(s: Session, prompt: Prompt) -> Outcome:
    """UserPromptSubmit: the prompt is about to reach the model."""
    if prompt.calls:
        return NOTHING
    return await s.hooks.fire("UserPromptSubmit", prompt=prompt.text)


async def join(s: Session, prompt: Prompt) -> None:
    """Adds a queued prompt to the turn under way, unless hooks refuse it; the turn goes on either way."""
    submitted = accepted(s, prompt, await submit(s, prompt))
    if submitted.ended is None:
        s.add_prompt(prompt, submitted.told)


async def expand(s: Session, prompt: Prompt, expansion: Expansion) -> Submitted:
    """UserPromptExpansion: a typed command is about to become the text the model sees."""
    scopes = {scope.value: scope.wire for scope in Scope}
    source = scopes.get(expansion.source, expansion.source)
    facts: dict[str, Any] = {"command_source": source} if source else {}
    outcome = await s.hooks.fire(
        "UserPromptExpansion",
        expansion_type=expansion.kind,
        command_name=expansion.name,
        command_args=expansion.arguments,
        prompt=expansion.prompt,
        **facts,
    )
    return accepted(s, prompt, outcome, "UserPromptExpansion")


def accepted(s: Session, prompt: Prompt, outcome: Outcome, event: str = "UserPromptSubmit") -> Submitted:
    """What becomes of a prompt that hooks have seen."""
    state = s.keep(HookState)
    said_before, state.before_turn = state.before_turn, []
    for each in said_before:
        s.emit(each)
    if outcome.blocks:
        block = outcome.blocks[0]
        words = f"{event} operation blocked by hook:\n{block.text}"
        if not outcome.suppress_prompt and not block.failed:
            words += f"\n\nOriginal prompt: {prompt.text}"
        said: dict[str, Any] = {"kind": "no_verdict" if block.failed else "blocked_by_hook"}
        said["prompt_kept"] = False
        if block.failed:
            said["no_verdict_kind"] = block.failed
        elif block.bare:
            said["reason"] = block.bare
        return Submitted(ended=_refused(s, words, said if event == "UserPromptSubmit" else {}))
    if outcome.end_turn:
        s.add_prompt(prompt, [])
        words = "Operation stopped by hook" + (f": {outcome.stop_reason}" if outcome.stop_reason else "")
        said = {"kind": "stopped_by_hook", "prompt_kept": True}
        said |= {"reason": outcome.stop_reason} if outcome.stop_reason else {}
        return Submitted(ended=_refused(s, words, said if event == "UserPromptSubmit" else {}))
    return Submitted(outcome.told)


def _refused(s: Session, words: str, said: dict[str, Any]) -> TurnEnded:
    """The end of a turn that never began; the text is its result."""
    facts: dict[str, Any] = {"prevent_continuation": True}
    if said:
        facts["prompt_submit_outcome"] = said
    s.recorder.system("informational", content=words, level="warning", preventContinuation=True)
    s.emit(HookSaid(words, "warning", facts))
    ended = end(s, result=words)
    return msgspec.structs.replace(ended, num_turns=0, stop_reason=None, terminal_reason="")


async def stopping(s: Session) -> TurnEnded | None:
    """Stop: the end of the turn, or None if hooks want it to go on."""
    facts: dict[str, Any] = {"last_assistant_message": s.turn.text} if s.turn.text else {}
    running = s.keep(Background).running()
    outcome = await s.hooks.fire(
        "Stop",
        stop_hook_active=s.turn.stop_hook_active,
        background_tasks=[_task(view) for view in running if view.kind in _TYPES],
        session_crons=_crons(s) if any(view.kind == "cron" for view in running) else [],
        **facts,
    )
    if outcome is NOTHING:
        return end(s)
    _summarise(s, outcome)
    if (outcome.errors or outcome.blocks) and ERROR_KEY not in s.turn.reminded:
        s.turn.reminded.add(ERROR_KEY)
        s.emit(HookNotice(ERROR_KEY, ERROR_TEXT, {"priority": "immediate"}))
    _feed_back(s, outcome)
    if outcome.end_turn:
        return end(s, reason="stop_hook_prevented")
    if not outcome.blocks and not outcome.context:
        return end(s)
    s.turn.stop_hook_active = True
    s.turn.stop_blocks += 1
    return _overridden(s)


def _feed_back(s: Session, outcome: Outcome) -> None:
    """What hooks object to is said in the user's place; what they merely add is a reminder."""
    for number, block in enumerate(outcome.blocks, 1):
        gap = "\n" if number < len(outcome.blocks) else ""
        note(s, f"Stop hook feedback:\n{block.text}{gap}")
    if outcome.blocks:
        # The turn no longer ends with the words of the model.
        s.turn.text = ""
    tell(s, outcome.told)
    if asides := take_asides(s):
        s.add_user(asides)
    if outcome.context and not outcome.end_turn and not outcome.blocks:
        words = reminder(added_at_end(outcome.context))
        s.recorder.reminder(
            "hook_additional_context", words, {"hookEvent": "Stop", "content": outcome.context}
        )
        s.add_user([Text(words)])


def _overridden(s: Session) -> TurnEnded | None:
    """The end after too many objections in a row."""
    given = s.parts.env.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "")
    cap = int(given) if given.isdecimal() else DEFAULT_CAP
    times = s.turn.stop_blocks
    if not cap or times <= cap:
        return None
    words = (
        f"A hook blocked the turn from ending {times} consecutive times — overriding and ending turn. For"
        " Stop/SubagentStop hooks, check stop_hook_active in the input and return success while it's true."
        " Set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to another number, or to 0 for no limit."
    )
    s.emit(HookSaid(words, "warning"))
    s.emit(HookNotice(CAP_KEY, words, {"priority": "high", "color": "warning"}))
    return end(s)


def _summarise(s: Session, outcome: Outcome) -> None:
    s.recorder.system(
        "stop_hook_summary",
        hookCount=len(outcome.runs),
        hookInfos=outcome.runs,
        hookErrors=[f"{label}: {why}" for label, why in outcome.failures],
        hookAdditionalContext=outcome.context,
        preventedContinuation=outcome.end_turn,
        stopReason=outcome.stop_reason,
        hasOutput=bool(outcome.blocks or outcome.context),
        level="suggestion",
    )


def _task(view: JobView) -> dict[str, Any]:
    told = {"id": view.id, "type": _TYPES[view.kind], "status": view.status, "description": view.description}
    if view.command:
        told["command"] = view.command
    if view.agent_type:
        told["agent_type"] = view.agent_type
    return told


def _crons(s: Session) -> list[dict[str, Any]]:
    """The prompts that follow a cron expression; whoever has one has loaded the module."""
    agenda = s.keep(import_module("forge.core.agenda").Agenda)
    return [
        {"id": entry.id, "schedule": entry.cron, "recurring": entry.recurring, "prompt": entry.prompt}
        for entry in agenda.crons()
    ]


async def shown_failure(s: Session, error: ModelError) -> str:
    """MessageDisplay: what is shown of an API error."""
    shown = await displayed(s, Text(error.message))
    return shown.text if isinstance(shown, Text) else error.message


async def failed_turn(s: Session, error: ModelError) -> None:
    """StopFailure: the turn has ended with an API error; nobody waits for these hooks."""
    facts = {"error_details": error.answer.details} if error.answer.details else {}
    await s.hooks.fire(
        "StopFailure", error=final_word(error.kind), last_assistant_message=error.message, **facts
    )


def ended_by_hook(s: Session) -> TurnEnded | None:
    """The end of a turn that a hook has stopped or put off at a call, or that something urgent cuts short."""
    if s.turn.cut_short:
        s.turn.text = ""
        return end(s, reason="aborted_tools")
    if s.turn.deferred is not None:
        s.turn.stop_reason, s.turn.text = "tool_deferred", ""
        return msgspec.structs.replace(end(s, reason="tool_deferred"), deferred=s.turn.deferred)
    if not s.turn.end_after_calls:
        return None
    s.turn.text = ""
    return end(s, reason="hook_stopped")


def interruption(s: Session) -> str:
    """What the result says of an interrupted turn; that of a hook is reported as the reference does."""
    if s.keep(HookState).interrupted:
        return f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={s.turn.stop_reason}"
    return "The turn was interrupted."
