"""The forgecmd_session tool: keys for a program in a terminal, its screen, and the rest of long outputs."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import msgspec

from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.programs import over, shown
from forge.core.shell.guard.typing import typed_lines
from forge.core.shell.history.look import Reader
from forge.core.shell.session.program import NotSent, Program
from forge.core.shell.session.programs import NoProgram
from forge.core.shell.session.prompts import UnclearLine
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.errors import ForgeError

_SETTLING = 3.0
_LONGEST = 600
_MOST_LINES = 1000


class Args(msgspec.Struct, frozen=True):
    action: str
    session: str = ""
    keys: str = ""
    until: str = "settled"
    timeout: int = 10
    rows: int = 24
    columns: int = 80
    id: int = 0
    offset: int = 1
    limit: int = 200
    pattern: str = ""


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Does what the action says."""
    if args.action == "output":
        await ctx.keep(Guard).recorded()
        return _output(args, ctx)
    try:
        program = ctx.keep(Guard).workplace().programs.find(args.session)
        return await _ACTIONS[args.action](args, program, ctx)
    except (NoProgram, NotSent, UnclearLine) as error:
        raise ToolError(str(error)) from None
    except re.error as error:
        raise ToolError(f"Not a regular expression: {error}") from None


async def _send(args: Args, program: Program, ctx: ToolContext) -> ToolOutput:
    guard = ctx.keep(Guard)
    lines = typed_lines(args.session, args.keys, guard)
    grant = guard.grant_of(ctx.call_id)
    # What was judged is what may be typed: the screen may have moved on since then.
    if lines and guard.mode != "off" and (grant is None or list(grant.lines) != lines):
        raise ToolError("The screen has changed in the meantime: look at it and send the keys again.")
    program.send(args.keys, check=lambda _: "")
    if lines:
        guard.begin(ctx.call_id, ctx.cwd, ctx.session_id, ctx.env, "\n".join(lines), pty=args.session)
        guard.finish(ctx.call_id, exit_code=None, status="success")
    await program.wait("settled", _SETTLING)
    return await shown(args.session, program, ctx)


async def _screen(args: Args, program: Program, ctx: ToolContext) -> ToolOutput:
    return await shown(args.session, program, ctx)


async def _wait(args: Args, program: Program, ctx: ToolContext) -> ToolOutput:
    seconds = min(max(args.timeout, 0), _LONGEST)
    happened = await program.wait(args.until, seconds)
    output = await shown(args.session, program, ctx)
    if happened:
        return output
    words = f"[{args.until} did not happen within {seconds} s]\n{output.content}"
    return msgspec.structs.replace(output, content=words)


async def _resize(args: Args, program: Program, ctx: ToolContext) -> ToolOutput:
    program.resize(max(1, min(args.rows, 500)), max(1, min(args.columns, 500)))
    await program.wait("settled", _SETTLING)
    return await shown(args.session, program, ctx)


async def _stop(args: Args, program: Program, ctx: ToolContext) -> ToolOutput:
    code = await ctx.keep(Guard).workplace().programs.stop(args.session)
    over(args.session, program, ctx)
    return ToolOutput(
        f"[session {args.session} ended with exit code {code}]", {"exitCode": code}, is_error=False
    )


async def _password(args: Args, program: Program, ctx: ToolContext) -> ToolOutput:
    """The user types; neither the model nor any record sees it."""
    if not program.asks_password():
        raise ToolError("The program does not ask for a password now.")
    ask = ctx.keep(Guard).ask_secret
    secret = await ask(program.screen.view().cursor_line().strip()) if ask is not None else None
    if secret is None:
        raise ToolError(
            "Nobody can type the password here. Tell the user what asks for it, or do without it."
        )
    program.write(secret.encode("utf-8", "surrogateescape") + b"\r")
    await program.wait("settled", _SETTLING)
    return await shown(args.session, program, ctx)


_ACTIONS: dict[str, Callable[[Args, Program, ToolContext], Awaitable[ToolOutput]]] = {
    "send": _send,
    "screen": _screen,
    "wait": _wait,
    "resize": _resize,
    "stop": _stop,
    "password": _password,
}


def _output(args: Args, ctx: ToolContext) -> ToolOutput:
    path = ctx.keep(Guard).setup.history
    if not path:
        raise ToolError("Outputs are not kept in this session.")
    try:
        reader = Reader(path)
        try:
            entry = reader.find(args.id)
            if entry is None or entry.session_id != ctx.session_id:
                raise ToolError(f"No command of this session has the id {args.id}.")
            limit = max(1, min(args.limit, _MOST_LINES))
            found = reader.output(args.id, offset=args.offset, limit=limit, pattern=args.pattern)
        finally:
            reader.close()
    except (ForgeError, re.error) as error:
        raise ToolError(str(error)) from None
    lines = "\n".join(f"{number}: {line}" for number, line in found.lines)
    text = f"[lines of {found.total}]\n{lines}"
    return ToolOutput(text, {"total": found.total}, is_error=False)


ACTION: Action[Args] = Action(Args, run)
