from __future__ import annotations

from pathlib import Path
from typing import Any

from control_host import Host
from fakemodel import serve
from forge_run import environment
from mcp_peer import entry

ALLOWED = ("--allowedTools", "mcp__calc,mcp__peer")


class Inside:
    """A server of the host program; `tools` can change."""

    def __init__(self) -> None:
        self.tools = ["add"]

    def __call__(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        results: dict[str, Any] = {
            "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": name}},
            "tools/list": {"tools": [{"name": tool, "inputSchema": schema} for tool in self.tools]},
            "tools/call": {"content": [{"type": "text", "text": f"{name} was called"}]},
        }
        return {
            "jsonrpc": "2.0",
            "id": message.get("id"),
            "result": results.get(message.get("method", ""), {}),
        }


def call(tool: str, **given: Any) -> list[dict[str, Any]]:
    return [{"tool": tool, "input": given}]


def said(host: Host) -> list[Any]:
    """What the calls of the last turn returned."""
    results = [r["message"]["content"][0]["content"] for r in host.records if r["type"] == "user"]
    host.records.clear()
    return results


def offered(host: Host) -> list[str]:
    """The tools of the only server."""
    (row,) = host.request("mcp_status")["response"]["mcpServers"]
    return [tool["name"] for tool in row["tools"]]


def test_servers_inside_the_host_are_called_changed_and_switched_off(
    home: Path, tmp_path: Path, started: list[Host]
) -> None:
    missing = "<tool_use_error>Error: No such tool available: mcp__calc__add</tool_use_error>"
    found = [{"type": "text", "text": "calc was called"}]
    turns = [call("mcp__calc__add", a=1), [{"text": "x"}], call("mcp__calc__mul"), [{"text": "x"}]]
    turns += [call("mcp__calc__add"), [{"text": "x"}]]
    with serve(turns) as server:
        host = Host(tmp_path, environment(home, server.url), *ALLOWED)
        started.append(host)
        host.inside = inside = Inside()
        host.request("initialize", sdkMcpServers=["calc"])
        host.say("one")
        host.until("result")
        assert said(host) == [found]
        inside.tools = ["mul"]
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        assert host.request("mcp_message", server_name="calc", message=changed)["subtype"] == "success"
        assert any(offered(host) == ["mul"] for _ in range(1000))
        host.say("two")
        host.until("result")
        assert said(host) == [found]
        assert host.request("mcp_toggle", serverName="calc", enabled=False)["subtype"] == "success"
        refused = host.request("mcp_reconnect", serverName="calc")["error"]
        assert refused.startswith("MCP server calc is disabled")
        host.say("three")
        host.until("result")
        assert said(host) == [missing]
        host.request("mcp_toggle", serverName="calc", enabled=True)
        assert offered(host) == ["mul"]
        inside.tools = ["add", "sub"]
        assert host.request("mcp_reconnect", serverName="calc")["subtype"] == "success"
        assert offered(host) == ["add", "sub"]
        assert host.finish() == 0


def test_servers_are_set_while_the_session_runs(home: Path, tmp_path: Path, started: list[Host]) -> None:
    with serve([call("mcp__peer__echo", text="hi"), [{"text": "x"}]]) as server:
        host = Host(tmp_path, environment(home, server.url), *ALLOWED)
        started.append(host)
        host.request("initialize")
        peer = entry(env={"TOKEN": "hidden"})
        wanted = {"peer": peer, "dead": {"command": "/no/such"}}
        first = host.request("mcp_set_servers", servers=wanted)["response"]
        no_program = "/no/such cannot be started: No such file or directory"
        assert first == {"added": ["peer", "dead"], "removed": [], "errors": {"dead": no_program}}
        rows = host.request("mcp_status")["response"]["mcpServers"]
        assert [row["status"] for row in rows] == ["connected", "failed"]
        assert "hidden" not in str(rows)
        called = host.request("mcp_call", tool="mcp__peer__echo", arguments={"text": "you"})
        assert called["response"] == {"content": [{"type": "text", "text": "you"}]}
        host.say("go")
        host.until("result")
        assert said(host) == [[{"type": "text", "text": "hi"}]]
        second = host.request("mcp_set_servers", servers={"peer": peer})["response"]
        assert second == {"added": [], "removed": ["dead"], "errors": {}}
        third = host.request("mcp_set_servers", servers={})["response"]
        assert third == {"added": [], "removed": ["peer"], "errors": {}}
        assert host.request("mcp_status")["response"] == {"mcpServers": []}
        assert host.finish() == 0
