"""Programs in terminals of their own, for tools: starting one, and its screen as the model sees it."""

from __future__ import annotations

from forge.core.shell.environment import directory_of
from forge.core.shell.guard.guard import Guard
from forge.core.shell.session.program import Program, Seen
from forge.core.shell.session.programs import NoProgram, Start
from forge.core.tool import ToolContext, ToolError, ToolOutput
from forge.foundation.system.keeping import NotStarted
from forge.foundation.system.process import Unsupported

_FIRST_SCREEN = 3.0
_PASSWORD = (
    "[It asks for a password. Do not type it: use forgecmd_session with the action password, so that the user"
    " is asked.]"
)


async def started_program(command: str, ctx: ToolContext) -> ToolOutput:
    """Starts a program; its session and the first screen."""
    guard = ctx.keep(Guard)
    place = guard.workplace()
    grant = guard.grant_of(ctx.call_id)
    profile = grant.profile if grant else ""
    sandbox = await place.sandbox(profile, ctx)
    await place.keep_safe(ctx.call_id, ctx)
    cwd = directory_of(ctx)
    env = {**place.environment(ctx, profile, terminal=True), "PWD": cwd}
    try:
        name = await place.programs.start(Start(command, cwd, env, sandbox=sandbox))
    except (NoProgram, NotStarted, Unsupported, OSError) as error:
        raise ToolError(f"The program could not be started: {error}") from None
    guard.begin(ctx.call_id, cwd, ctx.session_id, env, command, pty=name)
    place.calls[name] = ctx.call_id
    program = place.programs.find(name)
    if guard.focus is not None:
        guard.focus(name, program)
    await program.wait("settled", _FIRST_SCREEN)
    return await shown(name, program, ctx)


async def shown(name: str, program: Program, ctx: ToolContext) -> ToolOutput:
    """The screen of a program; one that has ended is over."""
    seen = await program.seen()
    if seen.exit_code is not None:
        over(name, program, ctx)
    return ToolOutput(screen_text(name, seen), _facts(name, seen), is_error=False)


def over(name: str, program: Program, ctx: ToolContext) -> None:
    """Notes in the history how a program ended."""
    guard = ctx.keep(Guard)
    code, ring = program.held.exit_code, program.output
    call_id = guard.workplace().calls.pop(name, "")
    guard.finish(
        call_id,
        exit_code=code,
        status="error" if code else "success",
        stdout=bytes(ring.head) + ring.tail,
        stdout_bytes=ring.size,
        output_truncated=bool(ring.omitted),
    )


def screen_text(name: str, seen: Seen) -> str:
    """A screen with what is known about its program."""
    if seen.exit_code is not None:
        state = f"ended with exit code {seen.exit_code}"
    else:
        state = "waits for input" if seen.waiting else "busy"
    row, column = seen.cursor
    facts = [f"session {name}", state, f"cursor at line {row + 1}, column {column + 1}"]
    facts += [f"title {seen.title!r}"] if seen.title else []
    facts += ["full screen"] if seen.alternate else []
    lines = [f"[{'; '.join(facts)}]", seen.text.rstrip()]
    return "\n".join([*lines, _PASSWORD] if seen.password else lines)


def _facts(name: str, seen: Seen) -> dict[str, object]:
    return {
        "session": name,
        "screen": seen.text,
        "cursor": list(seen.cursor),
        "waiting": seen.waiting,
        "password": seen.password,
        "exitCode": seen.exit_code,
    }
