from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.host import Allow, Answer, AskPermission, Refuse
from forge.agent.mcp.servers import await_servers, end_servers, start_servers
from forge.core.mcp.port import Ask, Greeting, Launch, Offer, Question, Reply
from forge.core.mcp.server import McpServer
from forge.foundation.permissions.situation import Decision
from forge.hosts.control_question import INVALID, ask_elsewhere

QUESTION = AskPermission(call("Bash", command="ls"), Decision("ask", "may it?"))
UNREADABLE = Refuse(INVALID.replace("canUseTool callback", "permission prompt tool"))


class Line:
    """A connection to a server that always answers the same."""

    def __init__(self, result: dict[str, Any], asked: list[Any]) -> None:
        self.greeting = Greeting([Offer("may")])
        self.alive = True
        self._result, self._asked = result, asked

    async def call(self, tool: str, given: dict[str, Any], call_id: str) -> dict[str, Any]:
        self._asked.append((tool, given, call_id))
        return self._result

    async def close(self) -> None:
        self.alive = False


def answered(result: dict[str, Any], name: str = "mcp__srv__may") -> tuple[Answer, list[Any]]:
    """What becomes of the question if the tool's result is this, and what the tool was asked."""
    asked: list[Any] = []

    async def opened(launch: Launch, ask: Ask) -> Line:
        return Line(result, asked)

    async def nobody(question: Question) -> Reply:
        return Reply("cancel")

    async def run() -> Answer:
        s = session(ScriptedModel([]), RecordingHost(), [])
        start_servers(s, [McpServer(Launch("srv", "x"), "dynamic", {}, nobody, opened)], [])
        await await_servers(s)
        try:
            return await ask_elsewhere(s, name, QUESTION)
        finally:
            await end_servers(s)

    return asyncio.run(run()), asked


def text(value: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (text({"behavior": "allow"}), Allow()),
        (text({"behavior": "allow", "updatedInput": {"command": "pwd"}}), Allow({"command": "pwd"})),
        (text({"behavior": "deny", "message": "no"}), Refuse("no")),
        (text({"behavior": "deny", "message": "no", "interrupt": True}), Refuse("no", interrupt=True)),
        (text("not json"), UNREADABLE),
        (text({"foo": 1}), UNREADABLE),
        (text([1]), UNREADABLE),
        (
            {**text("broke"), "isError": True},
            Refuse("<tool_use_error>Error calling tool (Bash): broke</tool_use_error>"),
        ),
    ],
)
def test_a_tool_of_a_server_decides_about_calls(result: dict[str, Any], expected: Answer) -> None:
    given = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "call-1"}
    assert answered(result) == (expected, [("may", given, "call-1")])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "mcp__srv__nope",
            Refuse(
                "<tool_use_error>Error calling tool (Bash): Error: MCP tool mcp__srv__nope (passed via"
                " --permission-prompt-tool) not found. Available MCP tools: mcp__srv__may</tool_use_error>"
            ),
        ),
        ("stdio", Refuse("may it?", asked=False)),
        ("", Refuse("may it?", asked=False)),
    ],
)
def test_without_such_a_tool_the_answer_is_no(name: str, expected: Answer) -> None:
    assert answered({}, name) == (expected, [])
