from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from control_host import Host
from fakemodel import serve
from forge_run import STREAM, environment, forge
from mcp_peer import NAMES, entry

OK = [{"text": "ok"}]
ALLOWED = ("--allowedTools", "mcp__srv")
SCHEMA = {"type": "object", "properties": {"user": {"type": "string"}}, "required": ["user"]}


def config(name: str = "srv", *how: str, **more: Any) -> str:
    return json.dumps({"mcpServers": {name: entry(*how, **more)}})


def tool(name: str, /, **given: Any) -> list[dict[str, Any]]:
    return [{"tool": name, "input": given}]


def results(bodies: list[dict[str, Any]]) -> list[Any]:
    blocks = [block for message in bodies[-1]["messages"] for block in message["content"]]
    return [b for b in blocks if isinstance(b, dict) and b["type"] == "tool_result"]


def test_the_model_calls_tools_of_a_server(home: Path, tmp_path: Path) -> None:
    turns = [tool("mcp__srv__echo", text="hi"), tool("mcp__srv__fail"), tool("mcp__srv__structured"), OK]
    with serve(turns) as server:
        env = environment(home, server.url)
        run = forge("-p", "go", "--mcp-config", config(), *ALLOWED, *STREAM, cwd=tmp_path, env=env)
        bodies = server.bodies
    assert run.code == 0, run.err
    init = run.of("system", "init")[0]
    assert init["mcp_servers"] == [{"name": "srv", "status": "connected", "source": "dynamic"}]
    assert set(init["tools"]) >= {f"mcp__srv__{name}" for name in NAMES}
    assert "mcp__srv__echo" in json.dumps(bodies[0]["messages"])
    assert [tool["name"] for tool in bodies[0]["tools"] if tool["name"].startswith("mcp__")] == []
    echoed, failed, structured = results(bodies)
    # Behind it stands how many tokens are left, as a part of the result.
    assert (echoed["content"][0], echoed.get("is_error")) == ({"type": "text", "text": "hi\n"}, None)
    assert failed["is_error"] is True
    assert failed["content"].startswith("it failed\n\n")
    assert structured["content"].partition("\n\n")[0] == '{"a":1}'
    called = next(r for r in run.of("assistant") if "tool_use_meta" in r)
    identity = called["message"]["content"][0]["id"]
    told = {"display_name": "Echo", "server_display_name": "peer", "tool_name": "echo"}
    assert called["tool_use_meta"] == [{"id": identity, **told}]
    assert run.of("user")[0]["tool_use_result"] == [{"type": "text", "text": "hi"}]


def test_a_tool_of_a_server_needs_permission(home: Path, tmp_path: Path) -> None:
    with serve([tool("mcp__srv__echo", text="hi"), OK]) as server:
        env = environment(home, server.url)
        run = forge("-p", "go", "--mcp-config", config(), *STREAM, cwd=tmp_path, env=env)
    denials = run.of("result")[0]["permission_denials"]
    assert [denial["tool_name"] for denial in denials] == ["mcp__srv__echo"]


def test_a_server_that_does_not_work_does_not_stop_the_run(home: Path, tmp_path: Path) -> None:
    servers = {
        "dead": entry("dead"),
        "none": {"command": "/none"},
        "web": {"type": "http", "url": "http://x"},
    }
    named = json.dumps({"mcpServers": {**servers, "broken": {"command": 5}, "workspace": entry()}})
    with serve([OK]) as server:
        env = environment(home, server.url)
        run = forge("-p", "go", "--mcp-config", named, *STREAM, cwd=tmp_path, env=env)
    assert (run.code, run.err) == (0, "")
    failed = {"status": "failed", "source": "dynamic"}
    assert run.of("system", "init")[0]["mcp_servers"] == [{"name": name, **failed} for name in servers]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("{}", "mcpServers: Invalid input: expected record, received undefined"),
        ("none.json", "MCP config file not found: {cwd}/none.json"),
    ],
)
def test_a_wrong_configuration_is_told_before_anything_starts(
    named: str, expected: str, home: Path, tmp_path: Path
) -> None:
    env = environment(home, "http://127.0.0.1:9")
    run = forge("-p", "go", "--mcp-config", named, *STREAM, cwd=tmp_path, env=env)
    words = expected.replace("{cwd}", str(tmp_path))
    assert (run.code, run.out) == (1, "")
    assert run.err.strip() == f"Error: Invalid MCP configuration:\n{words}"


@pytest.mark.requirement("S0-49", "S0-50", "S1-133")
def test_servers_of_the_project_and_of_plugins_know_where_they_are(home: Path, tmp_path: Path) -> None:
    plugin, project = tmp_path / "plugin", tmp_path / "project"
    for path, content in (
        (plugin / ".claude-plugin" / "plugin.json", {"name": "p"}),
        (plugin / ".mcp.json", {"mcpServers": {"s": entry(env={"HERE": "${CLAUDE_PLUGIN_ROOT}"})}}),
        (project / ".mcp.json", {"mcpServers": {"own": entry(env={"HERE": "${NOWHERE:-there}"})}}),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    roots = ("CLAUDE_PLUGIN_ROOT", "FORGE_PLUGIN_ROOT")
    asked = {"text": " ".join(["HERE", "CLAUDE_PROJECT_DIR", "CLAUDECODE", *roots])}
    turns = [tool("mcp__plugin_p_s__env", **asked), tool("mcp__own__env", **asked), OK]
    allowed = ("--allowedTools", "mcp__own", "mcp__plugin_p_s")
    with serve(turns) as server:
        env = environment(home, server.url)
        run = forge("-p", "go", "--plugin-dir", str(plugin), *allowed, *STREAM, cwd=project, env=env)
        found = [json.loads(result["content"][0]["text"]) for result in results(server.bodies)]
    rows = {row["name"]: row["source"] for row in run.of("system", "init")[0]["mcp_servers"]}
    assert rows == {"plugin:p:s": "plugin", "own": "project"}
    here = {"CLAUDE_PROJECT_DIR": str(project), "CLAUDECODE": "1"}
    assert found == [
        {"HERE": str(plugin), **here, **dict.fromkeys(roots, str(plugin))},
        {"HERE": "there", **here, **dict.fromkeys(roots)},
    ]


def test_a_host_program_answers_the_questions_of_a_server(home: Path, tmp_path: Path) -> None:
    with serve([tool("mcp__srv__ask", text="who"), OK]) as server:
        host = Host(tmp_path, environment(home, server.url), "--mcp-config", config(), *ALLOWED)
        host.say("go")
        asked = host.until("control_request")
        host.answer(asked, {"action": "accept", "content": {"user": "me"}})
        host.until("result")
        status = host.request("mcp_status")["response"]["mcpServers"]
        host.finish()
        host.close()
        (result,) = results(server.bodies)
    assert asked["request"] == {
        "subtype": "elicitation",
        "mcp_server_name": "srv",
        "message": "who",
        "mode": "form",
        "requested_schema": SCHEMA,
        "property_order": ["user"],
    }
    expected = 'ELICITED {"action": "accept", "content": {"user": "me"}}'
    assert result["content"][0] == {"type": "text", "text": f"{expected}\n"}
    assert [(row["name"], row["status"], row["serverInfo"]["name"]) for row in status] == [
        ("srv", "connected", "peer")
    ]
