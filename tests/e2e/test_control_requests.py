from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from control_host import Host
from fakemodel import serve
from forge_run import environment

FIRST, SECOND = (f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in (1, 2))
NO_SERVER = "neither a command nor a type with an address is given"
UNREACHABLE = "http://127.0.0.1:9"

Body = dict[str, Any]

# request, expected response; None: an acknowledgement without content
ANSWERS: list[tuple[str, Body, Body | None]] = [
    ("stop_task", {"task_id": "x"}, {}),
    ("background_tasks", {}, {}),
    ("seed_read_state", {"path": "README.md", "mtime": 1}, None),
    ("set_max_thinking_tokens", {"max_thinking_tokens": 1000}, None),
    ("set_max_thinking_tokens", {"max_thinking_tokens": None}, None),
    ("cancel_async_message", {"message_uuid": FIRST}, {"cancelled": False}),
    ("interrupt", {}, {"still_queued": []}),
    ("interrupt", {"cancel_queued": True}, {"still_queued": [], "cancelled": []}),
    ("mcp_status", {}, {"mcpServers": []}),
    ("mcp_set_servers", {"servers": {}}, {"added": [], "removed": [], "errors": {}}),
    ("mcp_set_servers", {"servers": {"a": {}}}, {"added": ["a"], "removed": [], "errors": {"a": NO_SERVER}}),
    ("mcp_set_servers", {"servers": {}}, {"added": [], "removed": ["a"], "errors": {}}),
    ("reload_skills", {}, {"skills": []}),
    ("get_hooks_listing", {}, {"events": [], "hooks": [], "eventCatalog": []}),
    ("generate_session_title", {"description": "x"}, {"title": None}),
    ("update_settings", {"source": "localSettings", "settings": {"outputStyle": "default"}}, {}),
]
REFUSALS: list[tuple[str, Body, str]] = [
    ("read_file", {"path": "nope.txt"}, "read denied: nope.txt"),
    ("read_file", {"path": "/etc/hostname"}, "read denied: /etc/hostname"),
    ("read_file", {}, "read_file: path must be a string"),
    ("rename_session", {"title": ""}, "rename_session: title must be a string"),
    (
        "update_settings",
        {"source": "userSettings", "settings": {"model": "x"}},
        "update_settings keys not allowed: model",
    ),
    ("apply_flag_settings", {}, "apply_flag_settings requires `settings` to be an object"),
    (
        "get_task_output",
        {"task_id": "x"},
        "get_task_output: no shell or Monitor task with that task_id in this session",
    ),
    ("mcp_reconnect", {"serverName": "x"}, "Server not found: x"),
    ("mcp_call", {"tool": "x"}, "Not a fully-qualified MCP tool name: x"),
    ("mcp_call", {"tool": "mcp__x__y"}, "MCP server not connected: x"),
    ("mcp_toggle", {"serverName": "x"}, "mcp_toggle: enabled must be a boolean"),
    ("mcp_toggle", {"serverName": "x", "enabled": True}, "Server not found: x"),
    (
        "mcp_set_servers",
        {"servers": {"x": 5}},
        "mcp_set_servers: servers must be an object of config objects",
    ),
    ("mcp_read_resource", {}, "mcp_read_resource: this version does not read resources of MCP servers."),
    ("register_repo_root", {"path": "/"}, "register_repo_root: target path could not be resolved"),
    (
        "set_max_thinking_tokens",
        {"max_thinking_tokens": "many"},
        "set_max_thinking_tokens: max_thinking_tokens must be a number or null",
    ),
    ("initialize", {"jsonSchema": {"type": "nonsense"}}, "jsonSchema is not a valid JSON Schema: "),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    (path / "README.md").write_text("hello\n")
    return path


def begin(started: list[Host], project: Path, env: dict[str, str], *args: str) -> Host:
    host = Host(project, env, *args)
    started.append(host)
    return host


def test_every_request_is_answered_in_its_form(home: Path, project: Path, started: list[Host]) -> None:
    host = begin(started, project, environment(home, UNREACHABLE))
    for subtype, fields, body in ANSWERS:
        wanted = {"subtype": "success", "request_id": "r1"} | ({} if body is None else {"response": body})
        assert (subtype, host.request(subtype, **fields)) == (subtype, wanted)
    assert host.finish() == 0


def test_requests_that_cannot_be_carried_out_say_why(home: Path, project: Path, started: list[Host]) -> None:
    host = begin(started, project, environment(home, UNREACHABLE))
    for subtype, fields, words in REFUSALS:
        response = host.request(subtype, **fields)
        assert (subtype, response["subtype"]) == (subtype, "error")
        assert response["error"].startswith(words)
    unknown = host.request("dance")
    assert (unknown["error"], unknown["error_code"]) == (
        "Unsupported control request subtype: dance",
        "unsupported_request",
    )
    assert host.finish() == 0


def test_files_are_read_and_suggested(home: Path, project: Path, started: list[Host]) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "reader.bin").write_bytes(b"\xff\x00")
    host = begin(started, project, environment(home, UNREACHABLE))
    where = {"absPath": str(project / "README.md"), "requested_path": "README.md"}
    whole = host.request("read_file", path="README.md")["response"]
    assert whole == {"contents": "hello\n", "lossy": False, **where}
    start = host.request("read_file", path="README.md", max_bytes=2)["response"]
    assert start == {"contents": "he", "lossy": False, "truncated": True, **where}
    binary = host.request("read_file", path="sub/reader.bin", encoding="base64")["response"]
    assert (binary["contents"], binary["encoding"]) == ("/wA=", "base64")
    found = host.request("file_suggestions", query="READ")["response"]
    assert found == {"suggestions": [{"path": "README.md"}, {"path": "sub/reader.bin"}], "cwd": str(project)}
    host.finish()


def test_initialize_describes_the_session(home: Path, project: Path, started: list[Host]) -> None:
    host = begin(started, project, environment(home, UNREACHABLE))
    response = host.request("initialize", hooks=None, title="A title")
    assert (response["pending_permission_requests"], response["pending_user_dialog_requests"]) == ([], [])
    body = response["response"]
    assert body["pid"] == host.child.pid
    assert body["account"] == {
        "tokenSource": "none",
        "apiKeySource": "ANTHROPIC_API_KEY",
        "apiProvider": "firstParty",
    }
    assert body["models"][0]["value"] == "default"
    titled = [r["title"] for r in host.records if r.get("subtype") == "session_title_changed"]
    assert titled == ["A title"]
    host.finish()


def test_a_schema_of_initialize_gives_structured_output(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[{"tool": "StructuredOutput", "input": {"n": 1}}]]) as server:
        host = begin(started, project, environment(home, server.url))
        host.request("initialize", jsonSchema={"type": "object", "properties": {"n": {"type": "integer"}}})
        host.say("go")
        assert host.until("result")["structured_output"] == {"n": 1}
        assert host.finish() == 0


def test_settings_of_the_host_change_rules_and_model(home: Path, project: Path, started: list[Host]) -> None:
    touch = {"tool": "Bash", "input": {"command": "touch a.txt"}}
    with serve([[touch], [{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url), "--allowedTools", "Bash")
        changes = {"permissions": {"deny": ["Bash(touch *)"]}, "model": "claude-haiku-4-5"}
        assert host.request("apply_flag_settings", settings=changes) == {
            "subtype": "success",
            "request_id": "r1",
        }
        # In a conversation that has not begun there is nothing to say about it.
        assert [r for r in host.records if r.get("isReplay")] == []
        settings = host.request("get_settings")["response"]
        assert settings["effective"] == changes
        assert settings["sources"] == [{"source": "flagSettings", "settings": changes}]
        assert settings["applied"]["model"] == "claude-haiku-4-5"
        state = host.request("list_permission_rules")["response"]["state"]
        assert [(r["behavior"], r["source"], r["rule"]) for r in state["rules"]] == [
            ("allow", "cliArg", "Bash"),
            ("deny", "flagSettings", "Bash(touch *)"),
        ]
        host.say("go")
        host.until("result")
        host.finish()
    assert not (project / "a.txt").exists()
    assert server.bodies[0]["model"] == "claude-haiku-4-5"


def test_thinking_follows_the_host(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url))
        host.request("set_max_thinking_tokens", max_thinking_tokens=2000)
        host.say("go")
        host.until("result")
        host.finish()
    assert server.bodies[0]["thinking"] == {"type": "enabled", "budget_tokens": 2000} | {
        k: v for k, v in server.bodies[0]["thinking"].items() if k == "display"
    }


def test_cost_and_context_are_told(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url))
        host.say("go")
        cost = host.until("result")["total_cost_usd"]
        usage = host.request("get_usage")["response"]["session"]
        assert (usage["total_cost_usd"], list(usage["model_usage"])) == (cost, ["claude-sonnet-4-5"])
        assert f"${cost:.4f}" in host.request("get_session_cost")["response"]["text"]
        context = host.request("get_context_usage")["response"]
        assert context["totalTokens"] == sum(
            c["tokens"] for c in context["categories"] if c["kind"] == "used"
        )
        assert context["maxTokens"] == sum(c["tokens"] for c in context["categories"])
        host.finish()


def test_an_interrupt_right_behind_a_prompt_stops_its_turn(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[{"text": "never asked"}]]) as server:
        host = begin(started, project, environment(home, server.url))
        user = {"type": "user", "message": {"role": "user", "content": "go"}, "uuid": FIRST}
        stop = {"type": "control_request", "request_id": "r", "request": {"subtype": "interrupt"}}
        host.send(json.dumps(user) + "\n" + json.dumps(stop))
        assert host.until("control_response")["response"]["response"] == {"still_queued": [FIRST]}
        assert host.until("result")["terminal_reason"] == "aborted_streaming"
        assert host.finish() == 1
    lives = [r["state"] for r in host.records if r["type"] == "command_lifecycle"]
    assert lives == ["queued", "started", "cancelled"]
    assert server.bodies == []


@pytest.mark.parametrize("subtype", ["cancel_async_message", "interrupt"])
def test_a_prompt_that_waits_can_be_taken_back(
    home: Path, project: Path, started: list[Host], subtype: str
) -> None:
    slow = {"tool": "Bash", "input": {"command": "while [ ! -e go ]; do sleep 0.05; done"}}
    with serve([[slow], [{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url), "--allowedTools", "Bash")
        host.say("one", uuid=FIRST)
        host.until("assistant")
        host.say("two", uuid=SECOND)
        host.until("command_lifecycle")
        fields = {"message_uuid": SECOND} if subtype != "interrupt" else {"cancel_queued": True}
        cancelled = host.request(subtype, **fields)["response"]["cancelled"]
        assert cancelled == (True if subtype != "interrupt" else [SECOND])
        (project / "go").touch()
        host.until("result")
        host.finish()
    lives = [r["state"] for r in host.records if r.get("command_uuid") == SECOND]
    assert lives == ["queued", "cancelled"]
    assert "two" not in json.dumps(server.bodies[-1]["messages"])


def test_the_session_ends_when_the_host_says_so(home: Path, project: Path, started: list[Host]) -> None:
    host = begin(started, project, environment(home, UNREACHABLE))
    assert host.request("end_session") == {"subtype": "success", "request_id": "r1"}
    assert host.child.wait(10) == 0


def test_a_host_whose_hooks_were_refused_gets_no_turn(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"text": "x"}]]) as server:
        host = begin(started, project, environment(home, server.url))
        hooks = {"PreTool": [{"matcher": None, "hookCallbackIds": ["h1"]}]}
        assert host.request("initialize", hooks=hooks)["error_code"] == "invalid_hooks"
        host.say("go")
        result = host.until("result")
        assert host.child.wait(10) == 1
    assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
    assert "Unknown hook events: PreTool" in result["errors"][0]
    assert server.bodies == []


def test_servers_that_cannot_run_are_reported_as_failed(
    home: Path, project: Path, started: list[Host]
) -> None:
    config = json.dumps({"mcpServers": {"files": {"command": "no-such-server"}}})
    with serve([[{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url), "--mcp-config", config)
        host.say("go")
        host.until("result")
        (row,) = host.request("mcp_status")["response"]["mcpServers"]
        host.finish()
    assert row == {
        "name": "files",
        "status": "failed",
        "config": {"type": "stdio", "command": "no-such-server"},
        "transport": "stdio",
        "scope": "dynamic",
        "source": "dynamic",
        "error": "no-such-server cannot be started: No such file or directory",
    }
    init = next(r for r in host.records if r.get("subtype") == "init")
    assert init["mcp_servers"] == [{"name": "files", "status": "failed", "source": "dynamic"}]


def test_messages_without_a_name_are_replayed_too(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url), "--replay-user-messages")
        host.say("go")
        host.until("result")
        host.finish()
    replayed = [r["message"]["content"] for r in host.records if r.get("isReplay")]
    assert replayed == ["go"]
    assert not [r for r in host.records if r["type"] == "command_lifecycle"]


LOOP = {"command": "echo begun; while [ ! -e go ]; do sleep 0.05; done", "run_in_background": True}


def test_a_job_is_watched_by_the_host_and_its_end_wakes_the_model(
    home: Path, project: Path, started: list[Host]
) -> None:
    script = [[{"tool": "Bash", "input": LOOP}], [{"text": "started"}], [{"text": "heard of it"}]]
    with serve(script) as server:
        host = begin(started, project, environment(home, server.url), "--allowedTools", "Bash")
        host.say("go")
        assert host.until("result")["result"] == "started"
        task = next(r["task_id"] for r in host.records if r.get("subtype") == "task_started")
        outputs = (host.request("get_task_output", task_id=task)["response"] for _ in range(1000))
        told = next(o for o in outputs if o["output"])
        assert told == {"output": "begun\n", "total_bytes": 6, "truncated": False}
        (project / "go").touch()
        assert host.until("result")["result"] == "heard of it"
        assert host.finish() == 0


def test_a_job_is_stopped_by_the_host(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"tool": "Bash", "input": LOOP}], [{"text": "started"}]]) as server:
        host = begin(started, project, environment(home, server.url), "--allowedTools", "Bash")
        host.say("go")
        host.until("result")
        task = next(r["task_id"] for r in host.records if r.get("subtype") == "task_started")
        host.request("stop_task", task_id=task)
        assert host.finish() == 0
    ends = [r["status"] for r in host.records if r.get("subtype") == "task_notification"]
    assert ends == ["stopped"]
