"""Conversations with the CLI as a model; shared by the tests of the provider."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fake_claude import FakeClaude, Line
from forge.core.message import Block, Message, Text, ToolUse
from forge.core.model import Finished, Model, Permission, Request, ToolSpec, Workplace, closing
from forge.core.models.catalog import open_model
from leftovers import left_running

BASH = ToolSpec("Bash", "Runs.", {"type": "object"})
FORGE_BASH = "mcp__forge__Bash"


def opened(fake: FakeClaude, home: Path, **options: Any) -> Model:
    row = {"enabled": True, "program": str(fake.path), "options": options}
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return open_model("claude-code/sonnet", env, {"providers": {"claude-code": row}}.get)


def ask(*messages: Message, place: Workplace | None = None, system: str = "Be brief.") -> Request:
    return Request("sonnet", [system], list(messages), [BASH], place=place)


def user(*blocks: Block | str) -> Message:
    return Message("user", [Text(b) if isinstance(b, str) else b for b in blocks])


async def whole(model: Model, request: Request) -> Finished:
    async with closing(model.stream(request)) as deltas:
        found = [delta async for delta in deltas]
    assert isinstance(found[-1], Finished)
    return found[-1]


def talk(model: Model, use: Callable[[Model], Awaitable[Any]]) -> Any:
    """Uses a model and closes it; nothing may be left running."""

    async def run() -> Any:
        try:
            return await use(model)
        finally:
            await model.close()

    found = asyncio.run(run())
    assert left_running() == []
    return found


def place(decide: Callable[[ToolUse], Permission] | None = None, cwd: str = "/") -> Workplace:
    async def permit(asked: ToolUse) -> Permission:
        return decide(asked) if decide else Permission(True, asked.input)

    return Workplace(cwd, [cwd], permit)


def can_use(name: str, number: int, **given: Any) -> Line:
    asked = {"subtype": "can_use_tool", "tool_name": name, "input": given, "tool_use_id": f"toolu_{number}"}
    return {"$": "ask", "request": asked}


HOOK: Line = {"$": "ask", "request": {"subtype": "hook_callback", "callback_id": "forge-call", "input": {}}}
