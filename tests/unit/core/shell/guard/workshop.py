"""A guarded session for tests of its tools: a keeper for all, calls granted beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from forge.core.shell.guard.grant import Grant
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import Setup
from forge.core.tool import Action, ToolError
from unit.core.shell.session.places import shared_keeper
from unit.core.tools.context import RecordingContext

Answer = TypeVar("Answer")


def workshop(tmp_path: Path, mode: str = "full", *, recorded: bool = True) -> RecordingContext:
    """The context of a session in a workspace below a home."""
    project = tmp_path / "home/project"
    project.mkdir(parents=True)
    ctx = RecordingContext(project)
    ctx.env |= {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "API_TOKEN": "very-secret-token"}
    state = str(tmp_path / "state")
    guard = Guard(Setup(mode, history=f"{state}/history.db" if recorded else "", trash=f"{state}/trash"))
    ctx.kept[Guard] = guard
    place = guard.workplace()
    place.keeper = place.programs._keeper = shared_keeper()
    return ctx


def guard_of(ctx: RecordingContext) -> Guard:
    return ctx.keep(Guard)


def playing(ctx: RecordingContext, play: Callable[[], Awaitable[Answer]]) -> Answer:
    """Plays something and ends the session, all but the shared keeper."""

    async def main() -> Answer:
        try:
            return await play()
        finally:
            place = guard_of(ctx).workplace()
            await place.programs.close()
            guard_of(ctx)._workplace = None
            await guard_of(ctx).close()

    return asyncio.run(main())


async def granted(
    ctx: RecordingContext, tool: Action[Any], grant: Grant | None = None, /, **given: Any
) -> str:
    """The text of a call that was granted."""
    ctx.call_id = f"call-{len(guard_of(ctx).grants) + 1}"
    guard_of(ctx).grants[ctx.call_id] = grant or Grant(str(given.get("command", "")), "safe_write", 4)
    output = await tool.run(msgspec.convert(given, tool.args), ctx)
    assert isinstance(output.content, str)
    return output.content


async def refused(ctx: RecordingContext, tool: Action[Any], **given: Any) -> str:
    """The text of a call that fails."""
    with pytest.raises(ToolError) as caught:
        await granted(ctx, tool, **given)
    return caught.value.message
