"""One session in which every event happens; its hooks write down what they are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from control_host import Host
from fakemodel import serve
from forge.foundation.hookspec import EVENTS
from forge_run import environment
from mcp_peer import entry

Told = dict[str, list[dict[str, Any]]]

# Only the members of an agent team are ever idle; teams live in the terminal program.
NOT_HERE = "TeammateIdle"
LOG = 'cat >> "$CLAUDE_PROJECT_DIR/../told.log"'
ALLOWED = "Bash,Agent,TaskCreate,TaskUpdate,EnterWorktree,ExitWorktree,mcp__srv"
COMMON = ("session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "effort", "hook_event_name")

# The fields of each event's first occurrence, as the reference sends them.
OWN = {
    "Setup": "trigger",
    "SessionStart": "source",
    "InstructionsLoaded": "file_path memory_type load_reason",
    "UserPromptSubmit": "prompt",
    "UserPromptExpansion": "expansion_type command_name command_args command_source prompt",
    "MessageDisplay": "turn_id message_id index final delta",
    "PreToolUse": "tool_name tool_input tool_use_id",
    "PermissionRequest": "tool_name tool_input permission_suggestions",
    "PermissionDenied": "tool_name tool_input tool_use_id reason",
    "PostToolUse": "tool_name tool_input tool_response tool_use_id duration_ms",
    "PostToolUseFailure": "tool_name tool_input tool_use_id error is_interrupt duration_ms",
    "PostToolBatch": "tool_calls",
    "Notification": "message notification_type",
    "SubagentStart": "agent_id agent_type",
    "SubagentStop": "agent_id agent_type stop_hook_active agent_transcript_path last_assistant_message"
    " background_tasks session_crons",
    "Stop": "stop_hook_active last_assistant_message background_tasks session_crons",
    "StopFailure": "error last_assistant_message",
    "TaskCreated": "task_id task_subject task_description",
    "TaskCompleted": "task_id task_subject task_description",
    "PreCompact": "trigger custom_instructions",
    "PostCompact": "trigger compact_summary",
    "PreModelSwitch": "from_model to_model requested_model source context_tokens prompt_cache_warm cache_ttl"
    " estimated_cache_write_usd pricing",
    "PostModelSwitch": "from_model to_model requested_model source context_tokens prompt_cache_warm cache_ttl"
    " estimated_cache_write_usd pricing",
    "Elicitation": "mcp_server_name message mode requested_schema",
    "ElicitationResult": "mcp_server_name mode action content",
    "ConfigChange": "source file_path",
    "CwdChanged": "old_cwd new_cwd",
    "FileChanged": "file_path event",
    "DirectoryAdded": "directory source",
    "WorktreeCreate": "name",
    "WorktreeRemove": "worktree_path",
    "SessionEnd": "reason",
}


def tool(name: str, /, **given: Any) -> list[dict[str, Any]]:
    return [{"tool": name, "input": given}]


def until(event: str, top: Path) -> str:
    """A command that ends when hooks have heard of the event; bounded."""
    seen = f"""grep -q '"hook_event_name":"{event}"' {top}/told.log"""
    return f"for i in $(seq 200); do {seen} && break; sleep 0.02; done"


def replies(top: Path) -> Iterator[list[dict[str, Any]]]:
    """What the model says in the main conversation."""
    moved = f"echo 1 > w.txt; echo '{{}}' > {top}/home/.claude/settings.json; mkdir sub; cd sub"
    yield [{"text": "hi"}, *tool("Bash", command=f"{moved}; {until('FileChanged', top)}")]
    yield tool("Bash", command="cd ..; false")
    yield tool("Write", file_path=str(top / "p/x"), content="1")
    yield tool("Agent", description="d", prompt="SUB", run_in_background=False)
    yield tool("TaskCreate", subject="s", description="d")
    yield tool("TaskUpdate", taskId="1", status="completed")
    yield tool("mcp__srv__ask", text="who")
    yield tool("EnterWorktree", name="w")
    yield tool("ExitWorktree", action="remove", discard_changes=True)
    yield tool("Bash", command=until("ConfigChange", top))
    yield [{"text": "end"}]
    yield tool("WebFetch", url="http://127.0.0.1:9/", prompt="x")
    yield [{"text": "end"}]


def prepare(top: Path) -> Path:
    project = top / "p"
    for folder in ("p/.claude/commands", "p/inner", "home/.claude", "tree"):
        (top / folder).mkdir(parents=True)
    (project / "CLAUDE.md").write_text("be brief")
    (project / ".claude/commands/cmd.md").write_text("do $ARGUMENTS")
    own = {"WorktreeCreate": f"{LOG}; echo {top}/tree"}
    hooks = {
        event: [{"matcher": "w.txt", "hooks": [{"type": "command", "command": own.get(event, LOG)}]}]
        if event == "FileChanged"
        else [{"hooks": [{"type": "command", "command": own.get(event, LOG)}]}]
        for event in EVENTS
    }
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    return project


def play(host: Host, project: Path) -> int:
    """Goes through everything a host can do; returns the exit code."""
    host.say("/cmd x")
    asked = host.until("control_request")
    host.answer(asked, {"action": "accept", "content": {"user": "me"}})
    host.until("result")
    host.say("/compact")
    host.until("result")
    host.request("set_model", model="claude-opus-5-5")
    host.request("register_repo_root", path=str(project / "inner"))
    host.request("set_permission_mode", mode="auto")
    for prompt in ("again", "fail"):
        host.say(prompt)
        host.until("result")
    return host.finish()


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What the hooks of the session were told, by event."""
    top = tmp_path_factory.mktemp("events")
    project = prepare(top)
    script = replies(top)

    def decide(body: dict[str, Any]) -> dict[str, Any]:
        first, last = json.dumps(body["messages"][0]), json.dumps(body["messages"][-1])
        if "<analysis>" in last or "SUB" in first or not body.get("tools"):
            return {"blocks": [{"text": "<summary>all</summary>"}]}
        reply = next(script, None)
        return {"blocks": reply} if reply else {"blocks": [], "error": {"status": 400, "error": {}}}

    with serve([]) as server:
        server.decide = decide
        servers = json.dumps({"mcpServers": {"srv": entry()}})
        args = ("--init", "--mcp-config", servers, "--allowedTools", ALLOWED)
        host = Host(project, environment(top / "home", server.url), *args)
        try:
            assert play(host, project) == 1  # the last turn has failed
        finally:
            host.close()
    rows = [json.loads(line) for line in (top / "told.log").read_text().splitlines()]
    return {event: [row for row in rows if row["hook_event_name"] == event] for event in EVENTS}


@pytest.mark.requirement("S0-30", "S1-44")
def test_every_event_happens(told: Told) -> None:
    assert [event for event in EVENTS if not told[event]] == [NOT_HERE]


@pytest.mark.requirement("S1-45", "S1-46", "S1-47", "S0-38")
def test_hooks_are_told_what_the_reference_tells(told: Told) -> None:
    own = {event: [key for key in told[event][0] if key not in COMMON] for event in OWN}
    assert own == {event: fields.split() for event, fields in OWN.items()}


@pytest.mark.requirement("S1-43")
def test_all_payloads_have_the_common_fields(told: Told) -> None:
    rows = [row for event in EVENTS for row in told[event]]
    assert len({(row["session_id"], row["transcript_path"]) for row in rows}) == 1
    without = {row["hook_event_name"] for row in rows if "permission_mode" not in row}
    assert without.isdisjoint({"PreToolUse", "PostToolUse", "Stop", "SubagentStop", "UserPromptSubmit"})
    assert {"SessionStart", "SessionEnd", "InstructionsLoaded", "CwdChanged", "SubagentStart"} <= without


@pytest.mark.requirement("S1-47", "S1-101")
def test_the_fields_say_what_happened(told: Told) -> None:
    project = told["Setup"][0]["cwd"]
    first = {event: told[event][0] for event in OWN}
    said = {
        "Setup": {"trigger": "init"},
        "CwdChanged": {"old_cwd": project, "new_cwd": f"{project}/sub"},
        "FileChanged": {"file_path": f"{project}/w.txt", "event": "add"},
        "ConfigChange": {"source": "user_settings"},
        "WorktreeCreate": {"name": "w"},
        "DirectoryAdded": {"directory": f"{project}/inner", "source": "register_repo_root"},
        "SubagentStop": {"last_assistant_message": "<summary>all</summary>", "stop_hook_active": False},
        "Elicitation": {"mcp_server_name": "srv", "message": "who", "mode": "form"},
        "ElicitationResult": {"action": "accept", "content": {"user": "me"}},
        "Notification": {"notification_type": "elicitation_response"},
        "PermissionDenied": {"tool_name": "WebFetch", "reason": "Classifier unavailable"},
    }
    assert {event: {key: first[event].get(key) for key in row} for event, row in said.items()} == said
    assert first["SubagentStart"]["agent_id"] == first["SubagentStop"]["agent_id"]
