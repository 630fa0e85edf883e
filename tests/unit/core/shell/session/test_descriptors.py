"""Nothing that runs commands may leave a descriptor open, however the command ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from forge.core.shell.session.command import Command, run, start
from forge.core.shell.session.programs import Programs, Start
from forge.foundation.system.keeping import Confinement, Keeper, NotStarted
from unit.core.shell.session.places import environment, shared_keeper

MANY = 20
Way = Callable[[Keeper, str, dict[str, str]], Awaitable[None]]


def _open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def _pipes(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    await run(Command("echo x", cwd, env), keeper)


async def _apart(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    await run(Command("echo x >&2", cwd, env, apart=True, terminal=True), keeper)


async def _terminal(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    await run(Command("echo x", cwd, env, terminal=True), keeper)


async def _sandboxed(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    with suppress(NotStarted):
        await run(Command("echo x", cwd, env, sandbox=Confinement(seccomp=True, landlock=True)), keeper)


async def _timed_out(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    await run(Command("sleep 9", cwd, env, timeout=0.001, grace=0.02), keeper)


async def _killed(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    await run(Command("kill -9 $$", cwd, env), keeper)


async def _cancelled(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    running = await start(Command("sleep 9", cwd, env), keeper)
    task = asyncio.ensure_future(running.ended(9))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _left_behind(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    running = await start(Command("sleep 9 >/dev/null 2>&1 & echo x", cwd, env), keeper)
    await running.ended(5)
    await running.result()
    running.held.kill()


async def _not_started(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    with suppress(NotStarted):
        await run(Command("echo x", os.path.join(cwd, "nosuch"), env), keeper)


async def _program(keeper: Keeper, cwd: str, env: dict[str, str]) -> None:
    programs = Programs(keeper)
    await programs.start(Start("cat", cwd, env))
    await programs.close()


@pytest.mark.requirement("S2-14")
@pytest.mark.parametrize(
    "way",
    [
        _pipes,
        _apart,
        _terminal,
        _sandboxed,
        _timed_out,
        _killed,
        _cancelled,
        _left_behind,
        _not_started,
        _program,
    ],
)
def test_many_commands_leave_no_descriptor_open(tmp_path: Path, way: Way) -> None:
    keeper, env = shared_keeper(), environment(tmp_path)

    async def play(times: int) -> None:
        for _ in range(times):
            await way(keeper, str(tmp_path), env)

    asyncio.run(play(1))
    before = _open_descriptors()
    asyncio.run(play(MANY))
    assert _open_descriptors() == before
