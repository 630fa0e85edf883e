"""What tests of commands and programs share: one keeper per test, a small environment."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from forge.core.shell.session.command import Command, Ended, run, start
from forge.core.shell.session.programs import Programs
from forge.foundation.system.keeping import Keeper

Answer = TypeVar("Answer")


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}


@lru_cache(maxsize=1)
def shared_keeper() -> Keeper:
    """One for all tests that do not end it: starting one takes longer than most of them."""
    keeper = Keeper()
    atexit.register(keeper.close)
    return keeper


def with_keeper(play: Callable[[Keeper], Awaitable[Answer]], *, own: bool = False) -> Answer:
    async def main() -> Answer:
        keeper = Keeper() if own else shared_keeper()
        try:
            return await play(keeper)
        finally:
            if own:
                keeper.close()

    return asyncio.run(main())


def with_programs(play: Callable[[Programs], Awaitable[Answer]], **changes: Any) -> Answer:
    async def main(keeper: Keeper) -> Answer:
        programs = Programs(keeper, **changes)
        try:
            return await play(programs)
        finally:
            await programs.close()

    return with_keeper(main)


async def stopped_when_ready(command: Command, keeper: Keeper) -> Ended:
    """Runs a command until it says `ready`, then acts as if its time were over."""
    ready = asyncio.Event()
    seen = bytearray()

    def listen(block: bytes) -> None:
        seen.extend(block)
        if b"ready" in seen:
            ready.set()

    running = await start(command, keeper, on_output=listen)
    async with asyncio.timeout(5):
        await ready.wait()
    return await running.stopped()


def ran(text: str, directory: Path, **changes: Any) -> Ended:
    given = {"cwd": str(directory), "env": environment(directory), "timeout": 5.0, "grace": 0.1, **changes}
    return with_keeper(lambda keeper: run(Command(text, **given), keeper))
