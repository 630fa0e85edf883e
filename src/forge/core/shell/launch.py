"""Starts commands of tools: with the session's shell, environment and directories."""

from __future__ import annotations

import os
from collections.abc import Callable

from forge.core.shell.environment import child_environment, find_shell
from forge.core.shell.execute import Command, Listener, Running, start
from forge.core.shell.exports import Exports
from forge.core.tool import ToolContext, ToolError
from forge.foundation.system.process import Unsupported


def started(
    text: str,
    cwd: str,
    ctx: ToolContext,
    *,
    on_progress: Callable[[str], None] | None = None,
    listener: Listener | None = None,
) -> Running:
    """A command that runs; ToolError if it could not be started."""
    shell = find_shell(ctx.env)
    env = child_environment(ctx.env, session_id=ctx.session_id, shell=shell, cwd=cwd)
    path = os.path.join(ctx.results_dir, f"b{os.urandom(4).hex()}.txt")
    try:
        command = Command(text, shell, cwd, env, path, prelude=ctx.keep(Exports).prelude())
        return start(command, on_progress=on_progress, listener=listener)
    except (OSError, Unsupported, ValueError) as error:
        raise ToolError(f"The command could not be started with {shell} in {cwd}: {error}") from None
