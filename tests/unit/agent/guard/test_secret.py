from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.guard.secret import ask_secret
from forge.agent.mcp.servers import Servers
from forge.core.tool import ToolError


@pytest.mark.requirement("S2-10")
@pytest.mark.parametrize(
    ("answer", "secret"),
    [
        ({"action": "accept", "content": {"secret": "hunter2"}}, "hunter2"),
        ({"action": "accept", "content": {"secret": 5}}, None),
        ({"action": "accept"}, None),
        ({"action": "decline", "content": {"secret": "x"}}, None),
        ({}, None),
        (ToolError("gone"), None),
    ],
)
def test_the_host_program_is_asked_for_a_password(answer: Any, secret: str | None) -> None:
    s = session(ScriptedModel([]), RecordingHost(), [])
    asked: list[dict[str, Any]] = []

    async def host(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        if isinstance(answer, ToolError):
            raise answer
        found: dict[str, Any] = answer
        return found

    s.keep(Servers).ask_host = host
    assert asyncio.run(ask_secret(s, "Password:")) == secret
    assert [(r["subtype"], r["message"]) for r in asked] == [
        ("elicitation", "A program that the model has started asks: Password:")
    ]


def test_without_a_host_program_nobody_is_asked() -> None:
    s = session(ScriptedModel([]), RecordingHost(), [])
    assert asyncio.run(ask_secret(s, "Password:")) is None
