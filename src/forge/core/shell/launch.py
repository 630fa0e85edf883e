"""Starts commands of tools: with the session's shell, environment and directories, sandboxed if need be."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from forge.core.shell.environment import child_environment, find_shell
from forge.core.shell.execute import Command, Listener, Outcome, Running, start
from forge.core.shell.exports import Exports
from forge.core.shell.guard.guard import Guard
from forge.core.shell.habits import Habits
from forge.core.tool import ToolContext, ToolError
from forge.foundation.system.process import Unsupported


async def started(
    text: str,
    cwd: str,
    ctx: ToolContext,
    *,
    on_progress: Callable[[str], None] | None = None,
    listener: Listener | None = None,
) -> Running:
    """A command that runs; ToolError if it could not be started."""
    guard = ctx.keep(Guard)
    grant = guard.grant_of(ctx.call_id)
    shell = find_shell(ctx.env)
    env = child_environment(ctx.env, session_id=ctx.session_id, shell=shell, cwd=cwd)
    path = os.path.join(ctx.results_dir, f"b{os.urandom(4).hex()}.txt")
    confines = (grant is not None and grant.profile) or ctx.setting("airGap", False) is True
    # The user's start-up file is no command of the model: it never runs where commands are confined.
    known = "" if confines else await ctx.keep(Habits).prelude(shell, env, ctx.results_dir)
    command = Command(text, shell, cwd, env, path, prelude=known + ctx.keep(Exports).prelude())
    if confines:
        confined: Any = import_module("forge.core.shell.guard.confined")
        running: Running = await confined.started_confined(command, ctx, on_progress, listener)
    else:
        try:
            running = start(command, on_progress=on_progress, listener=listener)
        except (OSError, Unsupported, ValueError) as error:
            raise ToolError(f"The command could not be started with {shell} in {cwd}: {error}") from None
    call_id = ctx.call_id
    guard.begin(call_id, cwd, ctx.session_id, ctx.env, text)
    running.over = lambda outcome: guard.finish(call_id, **_facts(outcome))
    return running


def _facts(outcome: Outcome | None) -> dict[str, Any]:
    """What the history keeps of an outcome."""
    if outcome is None:
        return {"exit_code": None, "status": "cancelled"}
    status = "timeout" if outcome.timed_out else "error" if outcome.exit_code else "success"
    return {
        "exit_code": outcome.exit_code,
        "status": status,
        "stdout": outcome.head + outcome.tail,
        "stdout_bytes": outcome.size,
        "output_truncated": outcome.size > len(outcome.head) + len(outcome.tail),
        "output_path": outcome.path,
    }
