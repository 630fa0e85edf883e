"""`forge hooks test`: runs the hooks of one event and shows what each did and what it amounts to."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Any

import msgspec

from forge.agent.event import Event
from forge.agent.hooks.answer import Answer, judge
from forge.agent.hooks.conditions import meets
from forge.agent.hooks.configured import without_repeats
from forge.agent.hooks.engine import Engine
from forge.agent.hooks.fold import fold
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.lending import engine_of
from forge.agent.hooks.matching import matches
from forge.agent.hooks.payload import hook_name, match_value, payload_of
from forge.agent.hooks.port import NOTHING, Outcome
from forge.agent.hooks.run import Firing, run_hook
from forge.agent.hooks.standing import standing_of
from forge.agent.host import Answer as Reply
from forge.agent.host import Question, Refuse
from forge.agent.session import Session
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.hookspec import HOOKS, HookSpec
from forge.foundation.origin import Scope
from forge.foundation.suggest import closest
from forge.hosts.build import outline_session
from forge.hosts.cli.command import Arguments, print_json
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions

MATCHED, OTHER, CONDITION, REPEATED = "ran", "matcher", "if", "repeated"

# What a field contains when nobody says otherwise.
_SAMPLES: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "true"},
    "tool_response": {"stdout": "", "stderr": "", "interrupted": False, "isImage": False},
    "tool_use_id": "toolu_test",
    "tool_calls": [],
    "index": 0,
    "final": True,
    "stop_hook_active": False,
    "background_tasks": [],
    "session_crons": [],
    "context_tokens": 0,
    "prompt_cache_warm": False,
    "estimated_cache_write_usd": 0,
    "pricing": None,
    "custom_instructions": None,
}
# The first value its matchers would be compared with.
_CHOICES = {
    "SessionStart": "startup",
    "Setup": "init",
    "InstructionsLoaded": "session_start",
    "Notification": "idle_prompt",
    "PreCompact": "manual",
    "PostCompact": "manual",
    "ConfigChange": "project_settings",
    "DirectoryAdded": "slash_command",
    "SessionEnd": "other",
    "StopFailure": "server_error",
}


class Trace(msgspec.Struct):
    """What became of one hook; `skipped` says why it did not run."""

    command: str
    type: str
    origin: str
    skipped: str = ""
    exit_code: int | None = None
    outcome: str = ""
    duration_ms: int = 0
    stdout: str = ""
    stderr: str = ""
    error: str = ""


class Silent:
    """A host nobody listens to."""

    def emit(self, event: Event) -> None:
        pass

    async def ask(self, question: Question) -> Reply:
        return Refuse("This is only a trial of hooks.", asked=False)


def try_event(o: RunOptions, c: Configuration, trial: tuple[str, dict[str, Any]], given: Arguments) -> int:
    """Runs the hooks of an event and prints the trace; 1 if one of them failed."""
    event, fields = trial
    spec = HOOKS[event]
    session = _session(o, c)
    engine = engine_of(session) or Engine()
    payload = payload_of(spec, standing_of(engine, session, {}), sample(spec, fields))
    chosen, traces = choose(engine, session, spec, payload)
    _confirm(c, chosen, yes=given.on("yes"))
    outcome = asyncio.run(_run(engine, session, spec, payload, (chosen, traces)))
    effect = effects(outcome)
    if given.on("json"):
        print_json({"event": event, "input": payload, "hooks": traces, "effect": effect})
    else:
        _print(
            open_screen(c.env, plain=given.on("no_color")),
            hook_name(spec, match_value(spec, payload)),
            traces,
        )
        _print_effect(open_screen(c.env, plain=given.on("no_color")), effect)
    return 1 if any(t.outcome not in ("", "success") and t.exit_code != 2 for t in traces) else 0


def _session(o: RunOptions, c: Configuration) -> Session:
    """A session for the trial; most hooks need no model, so it does without one if there is none."""
    try:
        return outline_session(o, c, Silent())
    except ForgeError:
        return outline_session(msgspec.structs.replace(o, model="scripted/tour"), c, Silent())


def sample(spec: HookSpec, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an event: those given, and something plausible for the others it must have."""
    names = [name.removesuffix("?") for name in spec.fields]
    common = (
        "session_id",
        "transcript_path",
        "cwd",
        "permission_mode",
        "hook_event_name",
        "prompt_id",
        "effort",
    )
    for name in fields:
        if name not in names and name not in common:
            near = closest(name, names)
            guess = f" Did you mean {near!r}?" if near else ""
            raise UsageError(f"{spec.name} has no field {name!r}: {', '.join(names) or 'none'}.{guess}")
    needed = [name for name in spec.fields if not name.endswith("?")]
    usual = {name: _SAMPLES.get(name, "") for name in needed}
    if spec.match in usual and spec.name in _CHOICES:
        usual[spec.match] = _CHOICES[spec.name]
    return usual | {name: value for name, value in fields.items() if name in names}


def choose(
    engine: Engine, session: Session, spec: HookSpec, payload: dict[str, Any]
) -> tuple[list[Hook], list[Trace]]:
    """The hooks that would run, and a trace for every hook of the event."""
    value = match_value(spec, payload)
    left: list[Hook] = []
    reasons: dict[int, str] = {}
    for hook in engine.hooks(spec.name):
        condition = hook.fields.get("if")
        if value is not None and not matches(hook.matcher, value, spec.name):
            reasons[id(hook)] = f"matcher {hook.matcher!r} does not accept {value!r}"
        elif hook.kind == "http" and spec.name in ("SessionStart", "Setup"):
            reasons[id(hook)] = "http hooks are left out for this event"
        elif condition and not meets(condition, payload, session.situation):
            reasons[id(hook)] = f"its condition {condition!r} does not hold"
        else:
            left.append(hook)
    chosen = without_repeats(left)
    for hook in left:
        if not any(hook is kept for kept in chosen):
            reasons[id(hook)] = "the same hook is defined again"
    traces = [Trace(h.label, h.kind, str(h.origin), reasons.get(id(h), "")) for h in engine.hooks(spec.name)]
    return chosen, traces


async def _run(
    engine: Engine,
    session: Session,
    spec: HookSpec,
    payload: dict[str, Any],
    hooks: tuple[list[Hook], list[Trace]],
) -> Outcome:
    chosen, traces = hooks
    firing = Firing(engine, session, spec, hook_name(spec, match_value(spec, payload)), payload)
    running = [trace for trace in traces if not trace.skipped]
    answers: list[Answer] = []

    async def one(hook: Hook, trace: Trace, number: int) -> None:
        run = await run_hook(firing, hook, number, session.parts.new_id())
        answer = judge(run)
        trace.exit_code, trace.duration_ms = run.exit_code, round(run.duration_ms)
        trace.stdout, trace.stderr = run.stdout, run.stderr
        trace.outcome, trace.error = answer.outcome, answer.error or run.failure
        if run.asynchronous:
            trace.outcome, trace.error = "success", "goes on in the background; its answer is not waited for"
        else:
            answers.append(answer)

    ordered = sorted(chosen, key=engine.hooks(spec.name).index)
    try:
        await asyncio.gather(*(one(h, t, n) for n, (h, t) in enumerate(zip(ordered, running, strict=True))))
        return fold(spec.name, answers) if answers else NOTHING
    finally:
        await engine.close()
        await session.model.close()
        _tidy(engine, session)


def effects(outcome: Outcome) -> dict[str, Any]:
    """What the answers amount to; what is not there has no effect."""
    shown = msgspec.to_builtins(outcome)
    empty = msgspec.to_builtins(NOTHING)
    kept = {key: value for key, value in shown.items() if value != empty.get(key)}
    if "blocks" in kept:
        kept["blocks"] = [block.text for block in outcome.blocks]
    return {key: value for key, value in kept.items() if key not in ("errors", "runs", "told", "failures")}


def _confirm(c: Configuration, chosen: list[Hook], *, yes: bool) -> None:
    """Programs that came with a checkout run only if somebody wants it."""
    foreign = [h for h in chosen if h.origin.scope in (Scope.PROJECT, Scope.LOCAL)]
    if c.trusted or yes or not foreign:
        return
    listing = "".join(f"\n  {hook.label}" for hook in foreign)
    question = f"{c.places.project_root} is not trusted. This would run programs of its settings:{listing}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(question, "Give --yes to run them once, or trust the project: forge trust")
    sys.stderr.write(f"{question}\nRun them? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing was run.")


def _tidy(engine: Engine, session: Session) -> None:
    """Files for exported variables belong to sessions; this was none."""
    folder = os.path.join(engine.means.config_dir, "session-env", session.id)
    with suppress(OSError):
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)


def _print(screen: Screen, name: str, traces: list[Trace]) -> None:
    screen.line(name, "bold")
    for trace in traces:
        if trace.skipped:
            screen.line(f"  - {trace.type}: {trace.command}", "dim")
            screen.line(f"      not run: {trace.skipped}", "dim")
            continue
        sign = screen.signs["ok"] if trace.outcome == "success" else screen.signs["no"]
        screen.line(f"  {sign} {trace.type}: {trace.command}")
        code = "" if trace.exit_code is None else f", exit code {trace.exit_code}"
        screen.line(f"      {trace.outcome}{code}, {trace.duration_ms} ms; {trace.origin}", "dim")
        for label, text in (("out", trace.stdout), ("err", trace.stderr), ("note", trace.error)):
            for row in text.rstrip("\n").splitlines()[:20]:
                screen.line(f"      {label}: {row}")
    if not traces:
        screen.say("No hook is configured for this event.")


def _print_effect(screen: Screen, effect: dict[str, Any]) -> None:
    screen.line("effect", "bold")
    for key, value in effect.items():
        screen.line(f"  {key}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}")
    if not effect:
        screen.line("  none")
