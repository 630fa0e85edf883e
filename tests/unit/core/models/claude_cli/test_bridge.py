"""Forge's tools as the CLI sees them, and the lines of the control channel."""

from __future__ import annotations

from typing import Any

import pytest

from forge.core.message import Text
from forge.core.model import ToolSpec
from forge.core.models.claude_cli.bridge import mcp_answer, tool_names, wire_tool
from forge.core.models.claude_cli.control import hook_answer, initialize, refusal, success, user_line

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
LONG = "mcp__server_with_a_rather_long_name__tool_with_a_rather_long_name"
TOOLS = [ToolSpec("Bash", "Runs.", SCHEMA), ToolSpec(LONG, "Far away.", SCHEMA)]


def test_names_are_prefixed_and_found_again() -> None:
    assert wire_tool("Bash") == "mcp__forge__Bash"
    names = tool_names(TOOLS)
    assert list(names.values()) == ["Bash", LONG]
    assert all(len(name) <= 64 and name.startswith("mcp__forge__") for name in names)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"id": 7, "method": "ping"}, {"result": {}}),
        ({"method": "notifications/initialized"}, {"result": {}}),
        (
            {"id": 7, "method": "server/discover"},
            {"error": {"code": -32601, "message": "Method not found: server/discover"}},
        ),
        (
            {"id": 7, "method": "tools/call", "params": {"name": "Bash"}},
            {
                "result": {
                    "content": [{"type": "text", "text": "This tool is run by the host, not here."}],
                    "isError": True,
                }
            },
        ),
    ],
)
def test_the_server_lists_tools_and_runs_none(message: dict[str, Any], answer: dict[str, Any]) -> None:
    assert mcp_answer(message, TOOLS) == {"jsonrpc": "2.0", "id": message.get("id", 0), **answer}


def test_the_server_introduces_itself_and_its_tools() -> None:
    hello = mcp_answer({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025"}}, TOOLS)
    assert (hello["result"]["protocolVersion"], hello["result"]["capabilities"]) == ("2025", {"tools": {}})
    listed = mcp_answer({"id": 1, "method": "tools/list"}, TOOLS)["result"]["tools"]
    assert listed[0] == {
        "name": "Bash",
        "description": "Runs.",
        "inputSchema": SCHEMA,
        "_meta": {"anthropic/alwaysLoad": True},
    }
    assert [f"mcp__forge__{tool['name']}" for tool in listed] == list(tool_names(TOOLS))


def test_the_first_request_sets_hook_server_and_system_prompt() -> None:
    hooks = {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["forge-call"]}]}
    asked = {"subtype": "initialize", "hooks": hooks, "systemPrompt": ["a", "b"]}
    line = {"type": "control_request", "request_id": "1", "request": asked}
    assert initialize("1", ["a", "b"], server=False) == line
    assert initialize("1", ["a", "b"], server=True)["request"] == {**asked, "sdkMcpServers": ["forge"]}


def test_lines_of_the_user_are_taken_as_they_are() -> None:
    line = user_line([Text("/clear @file")], query=False)
    assert (line["client_composed"], line["shouldQuery"]) == (True, False)
    assert line["message"]["content"] == [Text(" /clear @file")]
    assert "shouldQuery" not in user_line([Text("x")])


def test_answers_name_the_request() -> None:
    assert success("r", {"a": 1})["response"] == {
        "subtype": "success",
        "request_id": "r",
        "response": {"a": 1},
    }
    assert refusal("r", "no")["response"] == {"subtype": "error", "request_id": "r", "error": "no"}
    assert hook_answer("ask")["hookSpecificOutput"]["permissionDecision"] == "ask"
