"""One event from its facts to the folded outcome: choose, start all at once, judge as they end, fold."""

from __future__ import annotations

import asyncio
import logging
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.event import HookEnded, HookSaid, HookStarted
from forge.agent.hooks.answer import Answer, Run, judge
from forge.agent.hooks.attach import attach
from forge.agent.hooks.compaction import AROUND, note_runs
from forge.agent.hooks.configured import without_repeats
from forge.agent.hooks.engine import Engine
from forge.agent.hooks.fold import PROMPTS, fold
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.payload import hook_name, match_value, payload_of
from forge.agent.hooks.port import GONE, NOTHING, Outcome
from forge.agent.hooks.run import Firing, run_hook
from forge.agent.hooks.sites import give_title
from forge.agent.hooks.standing import standing_of
from forge.agent.hooks.state import HookState
from forge.agent.hooks.wording import bounded, texts
from forge.agent.session import Session
from forge.foundation.hookspec import HOOKS, Can

log = logging.getLogger("forge.hooks")

NO_ANSWER = "gave no usable answer, so it didn't check this action."
TOO_LATE = "didn't answer in time, so it didn't check this action."
EMPTY = "Its answer was treated as empty."
SILENT = "The app driving this session didn't respond, so this turn ended without it."
_SESSION_END_SECONDS = 60.0


async def dispatch(engine: Engine, s: Session, event: str, own: dict[str, Any]) -> Outcome:
    """Runs the hooks an event concerns and returns what they want, as far as the event allows it."""
    spec = HOOKS[event]
    standing = standing_of(engine, s, own)
    payload = payload_of(spec, standing, own)
    value = match_value(spec, payload)
    chosen = without_repeats(
        [h for h in engine.picked(event, value) if _concerns(h, payload, s, standing.agent_id)]
    )
    name = hook_name(spec, value)
    log.debug("%s: %d of %d hooks match", name, len(chosen), len(engine.hooks(event)))
    if not chosen:
        return NOTHING
    firing = Firing(engine, s, spec, name, payload, _budget(engine, s, event))
    answers: list[Answer] = []
    tasks = [asyncio.ensure_future(_one(firing, hook, n, answers)) for n, hook in enumerate(chosen)]
    try:
        await (_until_objection(event, tasks, answers) if event in PROMPTS else asyncio.gather(*tasks))
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    if Can.PLACE in spec.can or event == "PreCompact":
        # The first configured hook that names a directory counts, however long it took; instructions are
        # read in the order they were configured in.
        answers.sort(key=lambda answer: chosen.index(answer.run.hook))
    about = str(payload.get("tool_use_id", ""))
    mark = f"{about}-{event}" if about else event
    answers = [bounded(answer, s.parts.results_dir, mark) for answer in answers]
    outcome = fold(event, answers)
    told = texts(spec, name, about, answers, outcome)
    attach(s, firing, answers, told)
    if event in AROUND:
        note_runs(s, event, answers)
    return msgspec.structs.replace(
        outcome,
        told=told,
        runs=[_summary(answer) for answer in answers],
        failures=[(a.run.hook.label, _why(a)) for a in answers if a.outcome != "success"],
    )


async def _until_objection(event: str, tasks: list[asyncio.Task[None]], answers: list[Answer]) -> None:
    """Waits for all, or for the first that objects: a prompt that is refused needs no further opinions."""
    left = set(tasks)
    while left:
        done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.gather(*done)
        so_far = fold(event, answers)
        if so_far.blocks or so_far.end_turn:
            break
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _concerns(hook: Hook, payload: dict[str, Any], s: Session, agent_id: str) -> bool:
    if hook.agent_id and hook.agent_id != agent_id:
        return False
    # They could not be reached so early; the reference leaves them out without a word.
    if hook.kind == "http" and hook.event in ("SessionStart", "Setup"):
        return False
    condition = hook.fields.get("if")
    if not condition:
        return True
    met: bool = import_module("forge.agent.hooks.conditions").meets(condition, payload, s.situation)
    return met


def _budget(engine: Engine, s: Session, event: str) -> float | None:
    """Seconds for all hooks of an event together; only the end of a session is in such a hurry."""
    if event != "SessionEnd":
        return None
    given = s.parts.env.get("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "")
    if given.isdecimal():
        return int(given) / 1000
    asked = [float(h.fields["timeout"]) for h in engine.hooks(event) if "timeout" in h.fields]
    return min(_SESSION_END_SECONDS, max([HOOKS[event].timeout, *asked]))


async def _one(firing: Firing, hook: Hook, number: int, answers: list[Answer]) -> None:
    s = firing.session
    main = firing.engine.session or s
    identity = s.parts.new_id()
    shown = firing.spec.reported is not None and hook.kind != "callback"
    if shown and firing.supports(hook):
        main.emit(HookStarted(identity, firing.name, hook.event, str(hook.fields.get("statusMessage", ""))))
    run = await run_hook(firing, hook, number, identity)
    answer = judge(run)
    log.debug(
        "%s: [%s] of %s: %s, exit code %s, %d ms%s",
        *(firing.name, hook.label, hook.origin, answer.outcome, run.exit_code, run.duration_ms),
        f": {answer.error}" if answer.error else "",
    )
    if shown and not run.asynchronous:
        main.emit(ended_event(identity, firing.name, answer))
    if run.asynchronous:
        return
    answers.append(answer)
    _speak(firing, main, answer)
    if hook.fields.get("once") and hook.base and answer.outcome == "success":
        firing.engine.drop(hook)


def ended_event(identity: str, name: str, answer: Answer) -> HookEnded:
    """The end of a run, as hosts are told."""
    run = answer.run
    text = "" if run.timed_out else run.combined
    wrong = answer.error if run.exit_code == 0 else ""
    out, err = ("", "") if run.timed_out else (run.stdout, run.stderr or run.failure or wrong)
    code = run.status or (1 if run.exit_code is None else run.exit_code)
    return HookEnded(identity, name, run.hook.event, text or run.failure, out, err, code, answer.outcome)


def _speak(firing: Firing, main: Session, answer: Answer) -> None:
    """What the user hears of one answer."""
    event, output = firing.spec.name, answer.output
    specific = output.hook_specific_output if output is not None else None
    if event == "UserPromptSubmit" and specific is not None:
        give_title(main, specific.session_title or "")
    words = output.system_message if output is not None else None
    said: list[HookSaid] = []
    if words and Can.NOTIFY in firing.spec.can:
        said.append(
            HookSaid("\n".join(f"{firing.name} says: {line}" for line in words.splitlines()), "notice")
        )
    if answer.run.hook.kind == "callback":
        said += _of_host(event, answer)
    elif answer.no_verdict and event == "PreToolUse" and answer.block is None:
        said.append(_unchecked(answer, firing))
    if event == "UserPromptSubmit":
        main.keep(HookState).before_turn += said  # hosts hear of the turn first
        return
    for each in said:
        main.emit(each)


def _of_host(event: str, answer: Answer) -> list[HookSaid]:
    """What became of a function of the host program that gave no usable answer."""
    run = answer.run
    if run.failure and run.failure != GONE:
        blocks = answer.block is not None
        meaning = 'onFailure is "block", so this failure counts as a block.' if blocks else EMPTY
        words = f"{event}: {run.failure} {meaning}"
        return [HookSaid(words, "warning", {"tag": "hook_callback_failed"})]
    if run.timed_out and event == "Stop":
        return [HookSaid(f"Stop says: {SILENT}", "notice")]
    return []


def _unchecked(answer: Answer, firing: Firing) -> HookSaid:
    plugin = answer.run.hook.plugin
    who = "A hook" if plugin is None else f'A hook of the "{plugin.name}" plugin'
    facts: dict[str, Any] = {
        "hook_event": firing.spec.name,
        "tool_use_id": firing.payload.get("tool_use_id", ""),
        "timed_out": answer.run.timed_out,
    }
    if plugin is not None:
        facts |= {"plugin_id": plugin.id, "plugin_root": plugin.root}
    words = f"{who} {TOO_LATE if answer.run.timed_out else NO_ANSWER}"
    return HookSaid(words, "warning", {"tag": "hook_no_verdict", "hook_no_verdict": facts})


def _summary(answer: Answer) -> dict[str, Any]:
    return {"command": answer.run.hook.label, "durationMs": round(answer.run.duration_ms)}


def _why(answer: Answer) -> str:
    run: Run = answer.run
    if run.timed_out:
        return "Hook cancelled"
    return run.stderr.strip() or answer.error or run.failure or f"exit code {run.exit_code}"
