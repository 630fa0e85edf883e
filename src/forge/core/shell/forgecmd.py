"""The forgecmd tool: a command in the guarded shell of the session, or a program in a terminal of its own."""

from __future__ import annotations

import os

import msgspec

from forge.core.amount import human_duration
from forge.core.shell.environment import directory_of
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.programs import started_program
from forge.core.shell.guard.telling import sandbox_note, told, widened
from forge.core.shell.isolation import next_directory
from forge.core.shell.report.report import LIMIT, binary_note
from forge.core.shell.session.command import Command, Ended
from forge.core.shell.session.command import run as run_command
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.system.keeping import NotStarted
from forge.foundation.system.process import Unsupported

_DEFAULT, _LONGEST = 120, 600


class Args(msgspec.Struct, frozen=True):
    command: str
    interactive: bool = False
    timeout: int | None = None


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Runs the command in the one shell of the session: one after the other."""
    if args.interactive:
        return await started_program(args.command, ctx)
    async with ctx.keep(Guard).workplace().lock:
        cwd = directory_of(ctx)
        ended = await _performed(args, cwd, ctx)
        if ended.exit_code and await widened(ended.output.text(), ctx):
            ended = await _performed(args, cwd, ctx)
        return await _answer(args, ended, cwd, ctx)


async def _performed(args: Args, cwd: str, ctx: ToolContext) -> Ended:
    guard = ctx.keep(Guard)
    place = guard.workplace()
    grant = guard.grant_of(ctx.call_id)
    profile = grant.profile if grant else ""
    sandbox = await place.sandbox(profile, ctx)
    await place.keep_safe(ctx.call_id, ctx)
    path = os.path.join(ctx.results_dir, f"f{os.urandom(4).hex()}.txt")
    command = Command(
        args.command,
        cwd,
        {**place.environment(ctx, profile), "PWD": cwd, "FORGECODE": "1", "CLAUDECODE": "1"},
        timeout=_seconds(args),
        output_path=path,
        sandbox=sandbox,
    )
    guard.begin(ctx.call_id, cwd, ctx.session_id, command.env, args.command)
    status = "cancelled"
    ended: Ended | None = None
    try:
        ended = await run_command(command, place.keeper)
        status = "timeout" if ended.timed_out else "error" if ended.exit_code else "success"
    except (NotStarted, Unsupported, OSError) as error:
        status = "error"
        raise ToolError(f"The command could not be started: {error}. Nothing was run.") from None
    finally:
        guard.finish(ctx.call_id, status=status, **_facts(ended))
    place.carry(command.env, ended.exports)
    return ended


def _facts(ended: Ended | None) -> dict[str, object]:
    if ended is None:
        return {"exit_code": None}
    output = ended.output
    kept = b"" if output.binary else output.head + output.tail
    return {
        "exit_code": ended.exit_code,
        "stdout": kept,
        "stdout_bytes": output.size,
        "output_truncated": bool(output.omitted) or bool(output.binary),
        "output_path": output.path,
    }


async def _answer(args: Args, ended: Ended, cwd: str, ctx: ToolContext) -> ToolOutput:
    output = ended.output
    if output.binary:
        text = binary_note(output.binary, output.size, output.path)
    else:
        text = await told(output.text(), ctx, limit=LIMIT)
    notes = [text, _follow(ended, cwd, ctx)]
    if ended.survivors:
        notes.append(f"[Still running in the background: {', '.join(map(str, ended.survivors))}]")
    if ended.exit_code or ended.timed_out:
        limit = human_duration(_seconds(args) * 1000)
        first = f"Command timed out after {limit}" if ended.timed_out else f"Exit code {ended.exit_code}"
        raise ToolError(_joined([first, *notes, sandbox_note(output.text(), ctx)]))
    grant = ctx.keep(Guard).grant_of(ctx.call_id)
    facts = {"exitCode": 0, "category": grant.category, "risk": grant.risk} if grant else {"exitCode": 0}
    return ToolOutput(_joined(notes) or "(no output)", {"output": text, **facts}, is_error=False)


def _follow(ended: Ended, cwd: str, ctx: ToolContext) -> str:
    """The next command begins where this one ended, unless that is outside of the working directories."""
    directory, words = next_directory(ended.cwd, cwd, ctx.directories)
    if directory != ctx.cwd and os.path.isdir(directory):
        ctx.change_directory(directory)
    return f"[{words}]" if words else ""


def _seconds(args: Args) -> float:
    return float(min(args.timeout, _LONGEST)) if args.timeout is not None and args.timeout > 0 else _DEFAULT


def _joined(parts: list[str]) -> str:
    return "\n".join(part for part in parts if part)


ACTION: Action[Args] = Action(Args, run)
