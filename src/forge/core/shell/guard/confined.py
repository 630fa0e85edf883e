"""Starts a command of a tool in the sandbox that was chosen for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from forge.core.shell.execute import Command, Listener, Running, start_by
from forge.core.shell.guard.guard import Guard
from forge.core.tool import ToolContext, ToolError
from forge.foundation.system.keeping import Confinement, Held, Keeper, NotStarted, Order
from forge.foundation.system.process import Spawn, Unsupported


class _Kept:
    """A command of the keeper, as those who run commands see a process."""

    def __init__(self, held: Held) -> None:
        self._held = held

    @property
    def pid(self) -> int:
        return self._held.pid

    async def wait(self) -> int:
        return await self._held.wait()

    def terminate(self) -> None:
        self._held.terminate()

    def kill(self) -> None:
        self._held.kill()


async def started_confined(
    command: Command,
    ctx: ToolContext,
    on_progress: Callable[[str], None] | None,
    listener: Listener | None,
) -> Running:
    """The command in the profile of its call; ToolError if that cannot be had. Never without a sandbox."""
    guard = ctx.keep(Guard)
    grant = guard.grant_of(ctx.call_id)
    workplace = guard.workplace()
    profile = grant.profile if grant else ""
    sandbox = await workplace.sandbox(profile, ctx)
    await workplace.keep_safe(ctx.call_id, ctx)
    # A filtered environment is part of the full mode; the settings of the reference leave it as it is.
    own = workplace.environment(ctx, profile) if guard.mode == "full" else {"TMPDIR": workplace.temp(ctx)}
    marks = {name: command.env[name] for name in ("CLAUDECODE", "FORGECODE", "SHELL", "PWD")}
    env = {**own, **marks} if guard.mode == "full" else {**command.env, **own}
    command = msgspec.structs.replace(command, env=env)
    try:
        return await start_by(
            _launcher(workplace.keeper, sandbox), command, on_progress=on_progress, listener=listener
        )
    except (OSError, NotStarted, Unsupported, ValueError) as error:
        raise ToolError(
            f"The command could not be started in its sandbox: {error}. Nothing was run."
        ) from None


def _launcher(keeper: Keeper, sandbox: Confinement | None) -> Callable[[Spawn], Awaitable[_Kept]]:
    async def launch(what: Spawn) -> _Kept:
        order = Order(
            what.argv,
            what.cwd,
            what.env,
            (what.stdin, what.stdout, what.stderr),
            tuple((number, number) for number in what.keep),
            sandbox=sandbox,
        )
        return _Kept(await keeper.start(order))

    return launch
