"""The Bash tool: one command in a fresh shell, its output as text, its directory remembered."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import msgspec

from forge.core.amount import human_duration
from forge.core.pictures import printed_image
from forge.core.shell.detached import (
    DEFAULT_LIMIT,
    LEFT_LIMIT,
    Attended,
    in_background,
    is_allowed,
    left_alone,
    may_outlast,
    moved,
    new_task_id,
    output_file,
    shell_job,
    staying,
    time_limit,
)
from forge.core.shell.environment import directory_of
from forge.core.shell.execute import Outcome
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import FULL
from forge.core.shell.launch import started
from forge.core.shell.meaning import (
    edits_in_place,
    exit_meaning,
    is_silent,
    plain_commands,
    pointless_wait,
    refuse_hidden,
)
from forge.core.shell.output import failure_text, persisted, saved, shown_text, unsaved
from forge.core.shell.reads import mark_shown
from forge.core.shell.words import simple_commands
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.inside import is_really_inside

_DEFAULT_TIMEOUT, _MAX_TIMEOUT = 120_000, 600_000
_MAX_OUTPUT = 30_000
_KILLED = 137


class Args(msgspec.Struct, frozen=True):
    command: str
    timeout: float | None = None
    description: str = ""
    run_in_background: bool = False
    dangerouslyDisableSandbox: bool = False


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what cannot be shown as it is, and to block the conversation by sleeping."""
    refuse_hidden(args.command)
    if args.run_in_background and not is_allowed(ctx):
        raise ToolError(
            "InputValidationError: Bash failed due to the following issue:\n"
            "An unexpected parameter `run_in_background` was provided"
        )
    refusal = "" if args.run_in_background else pointless_wait(simple_commands(args.command))
    if refusal:
        raise ToolError(refusal)


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Runs the command and reports what came of it."""
    if args.run_in_background:
        return await _in_background(args, ctx)
    start_dir = directory_of(ctx)
    limit = timeout_ms(args.timeout, ctx)
    before = _states(ctx) if edits_in_place(args.command) else {}
    commands = simple_commands(args.command)
    full = ctx.keep(Guard).mode == FULL
    outcome = await _execute(args, start_dir, limit, ctx)
    if isinstance(outcome, Outcome) and full and await _widened(outcome, ctx):
        outcome = await _execute(args, start_dir, limit, ctx)
    if isinstance(outcome, ToolOutput):
        return outcome
    meaning = (
        "" if outcome.timed_out else exit_meaning(commands or plain_commands(args.command), outcome.exit_code)
    )
    if outcome.timed_out or (outcome.exit_code and not meaning):
        first = _headline(outcome, limit)
        told = full or ctx.setting("airGap", False) is True
        raise ToolError(await _failure(first, outcome, ctx) if told else failure_text(first, outcome))
    text = await _told(outcome, ctx) if full else shown_text(outcome, _output_limit(ctx))
    reset = _follow(outcome, start_dir, ctx)
    mark_shown(commands, text, ctx, start_dir)
    data: dict[str, Any] = {"stdout": text, "stderr": reset, "interrupted": False, "isImage": False}
    if meaning:
        data["returnCodeInterpretation"] = meaning
    data["noOutputExpected"] = is_silent(commands)
    hint = _stale_hint(before, ctx)
    if hint:
        data["staleReadFileStateHint"] = hint
    if args.dangerouslyDisableSandbox:
        data["dangerouslyDisableSandbox"] = True
    return _answer(data) if full else _report(outcome, data, ctx)


async def _in_background(args: Args, ctx: ToolContext) -> ToolOutput:
    task_id = new_task_id()
    task = task_id, output_file(task_id, ctx)
    running = await started(args.command, directory_of(ctx), ctx)
    running.keep_output(task[1])
    ctx.begin(shell_job(running, task, (args.command, args.description), time_limit(args.timeout)))
    return staying(in_background(*task), args.command, ctx.cwd)


async def _execute(args: Args, cwd: str, limit: float, ctx: ToolContext) -> Outcome | ToolOutput:
    """The outcome of the command; the result of the call if it goes on in the background."""
    attended = Attended(args.command, args.description, ctx)
    running = attended.running = await started(args.command, cwd, ctx, on_progress=attended.second)
    status = "stopped"
    try:
        if not await running.ended(limit / 1000):
            if attended.wanted == "killed":
                return msgspec.structs.replace(await running.killed(), exit_code=_KILLED, timed_out=False)
            if moving := _moving(attended, args, ctx):
                task, left = (attended.task_id, moving), bool(attended.wanted)
                output = (
                    left_alone(running, task) if left else moved(running, task, limit, _output_limit(ctx))
                )
                what, longest = (args.command, args.description), LEFT_LIMIT if left else DEFAULT_LIMIT
                ctx.begin(shell_job(running, task, what, longest))
                return staying(output, args.command, ctx.cwd)
            return await running.killed()
        outcome = await running.outcome()
        status = "failed" if outcome.exit_code else "completed"
        return outcome
    finally:
        await attended.over(status)


def _moving(attended: Attended, args: Args, ctx: ToolContext) -> str:
    """The output file of a command that may go on in the background, or shall; else ""."""
    if not attended.wanted and not may_outlast(args.command, ctx):
        return ""
    try:
        return output_file(attended.task_id, ctx)
    except ToolError:
        return ""


def timeout_ms(wanted: float | None, ctx: ToolContext) -> float:
    """How long a command may run: as asked, within the limits of the environment."""
    default = _number(ctx, "BASH_DEFAULT_TIMEOUT_MS", _DEFAULT_TIMEOUT)
    largest = max(_number(ctx, "BASH_MAX_TIMEOUT_MS", _MAX_TIMEOUT), default)
    return min(wanted, largest) if wanted is not None and wanted > 0 else default


def _output_limit(ctx: ToolContext) -> int:
    setting = ctx.setting("bashOutputMaxChars", _MAX_OUTPUT)
    fallback = setting if isinstance(setting, int) and setting > 0 else _MAX_OUTPUT
    return _number(ctx, "BASH_MAX_OUTPUT_LENGTH", fallback)


def _number(ctx: ToolContext, name: str, fallback: int) -> int:
    value = ctx.env.get(f"FORGE_{name}", ctx.env.get(name, ""))
    return int(value) if value.isdecimal() and int(value) > 0 else fallback


def _headline(outcome: Outcome, limit: float) -> str:
    if outcome.timed_out:
        return f"Exit code 143\nCommand timed out after {human_duration(limit // 1000 * 1000)}"
    return f"Exit code {outcome.exit_code}"


def _follow(outcome: Outcome, start: str, ctx: ToolContext) -> str:
    """Keeps the directory a successful command went to, unless it is outside of the working directories."""
    before = ctx.cwd
    end = outcome.cwd if outcome.exit_code == 0 and os.path.isdir(outcome.cwd) else start
    if end == os.path.realpath(start):
        end = start
    stay = ctx.env.get("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", "") in ("1", "true")
    target = end if not stay and is_really_inside(end, *ctx.directories) else ctx.start_dir
    # Where a command has ended is news even if the session does not stay there.
    for place in (end, target):
        if place != ctx.cwd:
            ctx.change_directory(place)
    return f"\nShell cwd was reset to {target}" if target != end or start != before else ""


def _states(ctx: ToolContext) -> dict[str, tuple[int, int]]:
    states: dict[str, tuple[int, int]] = {}
    for path in ctx.seen:
        try:
            status = os.stat(path)
        except OSError:
            continue
        states[path] = (status.st_mtime_ns, status.st_size)
    return states


def _stale_hint(before: dict[str, tuple[int, int]], ctx: ToolContext) -> str:
    after = _states(ctx) if before else {}
    names = [os.path.relpath(p, ctx.cwd) for p, state in before.items() if after.get(p, state) != state]
    if not names:
        return ""
    files = "1 file" if len(names) == 1 else f"{len(names)} files"
    listed = ", ".join(names)
    return f"[This command modified {files} you've previously read: {listed}. Call Read before editing.]"


def _report(outcome: Outcome, data: dict[str, Any], ctx: ToolContext) -> ToolOutput:
    text = data["stdout"]
    image = None if outcome.tail else printed_image(_text(outcome))
    if image is not None:
        whole = {**data, "stdout": _text(outcome).strip(), "isImage": True}
        return ToolOutput([image], whole, is_error=False)
    if outcome.size > _output_limit(ctx):
        path = saved(outcome, os.path.join(ctx.results_dir, f"b{os.urandom(4).hex()}.txt"))
        if path:
            data["persistedOutputPath"] = path
            data["persistedOutputSize"] = outcome.size
        text = persisted(text, outcome.size, path) if path else unsaved(text, outcome)
    return _answer(data, text)


async def _told(outcome: Outcome, ctx: ToolContext) -> str:
    """The output as a guarded session tells it: shortened, and the rest can be had."""
    text: str = await _telling().told(_text(outcome), ctx, limit=_output_limit(ctx))
    return text


async def _failure(first: str, outcome: Outcome, ctx: ToolContext) -> str:
    parts = [first, await _told(outcome, ctx), _telling().sandbox_note(_text(outcome), ctx)]
    return "\n".join(part for part in parts if part)


async def _widened(outcome: Outcome, ctx: ToolContext) -> bool:
    """Whether a command that its sandbox has stopped may be tried once more."""
    return bool(outcome.exit_code) and bool(await _telling().widened(_text(outcome), ctx))


def _text(outcome: Outcome) -> str:
    gone = outcome.size - len(outcome.head) - len(outcome.tail)
    gap = f"\n[... {gone} bytes omitted ...]\n".encode() if gone > 0 else b""
    return (outcome.head + gap + outcome.tail).decode("utf-8", "replace")


def _telling() -> Any:
    return import_module("forge.core.shell.guard.telling")


def _answer(data: dict[str, Any], text: str | None = None) -> ToolOutput:
    text = data["stdout"] if text is None else text
    parts = [text, data["stderr"].strip(), data.get("staleReadFileStateHint", "")]
    content = "\n".join(part for part in parts if part)
    return ToolOutput(content or "(Bash completed with no output)", data, is_error=False)


ACTION: Action[Args] = Action(Args, run, check)
