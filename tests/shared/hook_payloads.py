"""Runs that fire hooks for the comparison with recorded payloads, and payloads that cannot be compared."""

from __future__ import annotations

from typing import Any

from forge.foundation.hookspec import HOOKS

Case = dict[str, Any]


def call(tool: str, **given: Any) -> dict[str, Any]:
    return {"tool": tool, "input": given}


def bash(command: str, **more: Any) -> dict[str, Any]:
    return call("Bash", command=command, description="d", **more)


SAY = [{"text": "done"}]
BUT_ONE = ("WorktreeCreate", "WorktreeRemove", "FileChanged")
EVERY = {
    event: [{"hooks": [{"type": "command", "command": "@all@"}]}] for event in HOOKS if event not in BUT_ONE
}


def case(name: str, scenario: list[Any], *args: str, **more: Any) -> Case:
    hooks = EVERY | more.pop("hooks", {})
    scripts = {"all": {}} | more.pop("hook_script", {})
    made = {"name": name, "settings": {"hooks": hooks}, "scenario": scenario, "args": list(args)}
    return made | {"hook_script": scripts} | more


def hook(name: str, matcher: str = "") -> list[dict[str, Any]]:
    return [{"matcher": matcher, "hooks": [{"type": "command", "command": f"@{name}@"}]}]


AGENT = call("Agent", description="s", prompt="SUBTASK please", subagent_type="general-purpose")
AGENT["input"]["run_in_background"] = False
SKILL = "---\nname: sk\ndescription: d\n---\nbody $ARGUMENTS\n"
SUMMARY = [{"any": "create a detailed summary", "turns": [[{"text": "<summary>S</summary>"}]]}]
SWITCH = {"subtype": "set_model", "model": "claude-sonnet-4-5"}
ROOT = {"subtype": "register_repo_root", "path": "@CWD@/sub", "directory": "@CWD@/sub"}

RUNS = (
    case(
        "calls",
        [
            [{"text": "I will run"}, bash("echo hi")],
            [call("Read", file_path="@CWD@/e.txt")],
            [call("Edit", file_path="@CWD@/e.txt", old_string="world", new_string="there")],
            [call("Write", file_path="@CWD@/n.txt", content="new")],
            [call("Skill", skill="sk")],
            [bash("exit 3")],
            [AGENT],
            [bash("sleep 3", run_in_background=True)],
            SAY,
        ],
        *("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "Agent", "Skill"),
        files={
            "CLAUDE.md": "top\n@inc.md\n",
            "inc.md": "x",
            "e.txt": "hello world\n",
            ".claude/skills/sk/SKILL.md": SKILL,
        },
        routes=[
            {
                "first_user": "SUBTASK",
                "by": "assistant",
                "turns": [[bash("echo sub")], [{"text": "sub done"}]],
            }
        ],
    ),
    case(
        "tasks",
        [
            [call("TaskCreate", subject="S", description="d", activeForm="a")],
            [call("TaskUpdate", taskId="1", status="completed")],
            SAY,
        ],
        *("--allowedTools", "TaskCreate", "TaskUpdate"),
    ),
    case(
        "permission",
        [[bash("touch ran_x; echo hi")], [call("Write", file_path="@CWD@/a.txt", content="x")], SAY],
    ),
    case("auto", [[bash('python3 -c "print(1)"')], SAY], "--permission-mode", "auto"),
    case("init", [SAY], "--init"),
    case("maintenance", [SAY], "--maintenance"),
    case(
        "sessions",
        [SAY],
        then=[
            {"prompt": "more", "args": ["--resume", "@SESSION@"], "scenario": [SAY, SAY]},
            {"prompt": "/compact keep names", "args": ["--resume", "@SESSION@"], "scenario": [SAY, SAY, SAY]},
            {"prompt": "x", "args": ["--resume", "@SESSION@", "--fork-session"], "scenario": [SAY] * 5},
        ],
        routes=SUMMARY,
    ),
    case(
        "refused",
        [{"error": {"status": 429, "type": "rate_limit_error", "message": "slow down"}}],
        env={"CLAUDE_CODE_MAX_RETRIES": "0"},
        settle=0.5,
    ),
    case(
        "invalid",
        [
            {
                "error": {
                    "status": 400,
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 2 tokens > 1",
                }
            }
        ],
        env={"CLAUDE_CODE_MAX_RETRIES": "0"},
        settle=0.5,
    ),
    case(
        "host",
        [SAY, SAY],
        *("--input-format", "stream-json"),
        prompt=None,
        stdin=[
            {"type": "control_request", "request_id": "1", "request": ROOT},
            {"type": "control_request", "request_id": "2", "request": SWITCH},
            {"type": "user", "message": {"role": "user", "content": "hi"}},
        ],
        files={"sub/x": ""},
        settle=0.3,
    ),
    case("typed", [SAY], prompt="/sk foo bar", files={".claude/skills/sk/SKILL.md": SKILL}),
    case(
        "worktree",
        [
            [call("EnterWorktree", name="wt9")],
            [call("ExitWorktree", action="remove", discard_changes=True)],
            SAY,
        ],
        *("--allowedTools", "EnterWorktree", "ExitWorktree"),
        hooks={"WorktreeCreate": hook("make"), "WorktreeRemove": hook("all")},
        hook_script={"make": {"sh": "mkdir -p @ROOT@/wt; echo @ROOT@/wt"}},
    ),
    case(
        "again",
        [[{"text": "one"}], [{"text": "two"}]],
        hooks={"Stop": hook("stop")},
        hook_script={"stop": {"sh": "[ -e @HOOKS@/o ] && exit 0; touch @HOOKS@/o", "exit": 2}},
    ),
    case(
        "watched",
        [
            [bash("sleep 2; echo 1 > w.txt; echo 2 > v.txt; sleep 2")],
            [bash("mkdir -p sub; cd sub")],
            [bash('sleep 1; echo {} > "$CLAUDE_PROJECT_DIR"/.claude/settings.local.json; sleep 3')],
            SAY,
        ],
        *("--allowedTools", "Bash"),
        hooks={"FileChanged": hook("all", "w.txt|v.txt")},
        files={"w.txt": "0"},
        env={"CLAUDE_PROJECT_DIR": "@CWD@"},
    ),
    case(
        "server",
        [
            [call("mcp__srv__echo", text="hello")],
            [call("mcp__srv__fail")],
            [call("mcp__srv__ask", message="who")],
            SAY,
        ],
        *("--allowedTools", "mcp__srv__echo", "mcp__srv__fail", "mcp__srv__ask"),
        mcp={"srv": {}},
    ),
)

# From which run a recorded payload is taken, and what singles it out among those of its event.
TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "ConfigChange": ("watched", {}),
    "CwdChanged": ("watched", {}),
    "DirectoryAdded": ("host", {}),
    "FileChanged": ("watched", {"event": "change"}),
    "FileChanged.add": ("watched", {"event": "add"}),
    "InstructionsLoaded": ("calls", {"load_reason": "session_start"}),
    "InstructionsLoaded.include": ("calls", {"load_reason": "include"}),
    "MessageDisplay": ("calls", {}),
    "PermissionDenied": ("auto", {}),
    "PermissionRequest": ("permission", {"tool_name": "Bash"}),
    "PermissionRequest.Write": ("permission", {"tool_name": "Write"}),
    "PostCompact": ("sessions", {}),
    "PostModelSwitch": ("host", {}),
    "PostToolBatch": ("calls", {}),
    "PostToolUse": ("calls", {"tool_name": "Bash"}),
    "PostToolUse.Agent": ("calls", {"tool_name": "Agent"}),
    "PostToolUse.Edit": ("calls", {"tool_name": "Edit"}),
    "PostToolUse.Read": ("calls", {"tool_name": "Read"}),
    "PostToolUse.Skill": ("calls", {"tool_name": "Skill"}),
    "PostToolUse.Write": ("calls", {"tool_name": "Write"}),
    "PostToolUseFailure": ("calls", {}),
    "PreCompact": ("sessions", {}),
    "PreModelSwitch": ("host", {}),
    "PreToolUse": ("calls", {"tool_name": "Bash"}),
    "PreToolUse.subagent": ("calls", {"agent_type": "general-purpose"}),
    "SessionEnd": ("calls", {}),
    "SessionStart": ("calls", {}),
    "SessionStart.compact": ("sessions", {"source": "compact"}),
    "SessionStart.fork": ("sessions", {"source": "fork"}),
    "SessionStart.resume": ("sessions", {"source": "resume"}),
    "Setup": ("init", {}),
    "Setup.maintenance": ("maintenance", {}),
    "Stop": ("tasks", {}),
    "Stop.after_block": ("again", {"stop_hook_active": True}),
    "Stop.background": ("calls", {}),
    "StopFailure": ("refused", {}),
    "StopFailure.invalid_request": ("invalid", {}),
    "SubagentStart": ("calls", {}),
    "SubagentStop": ("calls", {}),
    "TaskCompleted": ("tasks", {}),
    "TaskCreated": ("tasks", {}),
    "UserPromptExpansion": ("typed", {}),
    "UserPromptSubmit": ("calls", {}),
    "WorktreeCreate": ("worktree", {}),
    "WorktreeRemove": ("worktree", {}),
    "Elicitation": ("server", {}),
    "ElicitationResult": ("server", {}),
    "Notification.elicitation_response": ("server", {}),
    "PostToolUse.mcp": ("server", {"tool_name": "mcp__srv__echo"}),
    "PostToolUseFailure.mcp": ("server", {}),
    "PreToolUse.mcp": ("server", {"tool_name": "mcp__srv__echo"}),
}

SCREEN = "fires only in the terminal interface"
NOT_COMPARED = {
    "DirectoryAdded.slash_command": SCREEN,
    "InstructionsLoaded.nested_traversal": SCREEN,
    "InstructionsLoaded.path_glob_match": SCREEN,
    "Notification": SCREEN,
    "Notification.idle_prompt": SCREEN,
    "PostModelSwitch.command": SCREEN,
    "PreModelSwitch.command": SCREEN,
    "SessionEnd.clear": SCREEN,
    "SessionEnd.prompt_input_exit": SCREEN,
    "SessionStart.clear": SCREEN,
    "SessionStart.interactive": SCREEN,
    "TeammateIdle": "teams of agents are interactive",
    "PreCompact.auto": "differs from the manual one in values only",
}

# Fields whose value Forge has none of, or more of, and why.
DIFFERENT: dict[str, dict[str, str]] = {
    "PostModelSwitch": {"prompt_id": "whether a prompt has come before the switch is a matter of chance"},
    "PostToolUse.Agent": {
        "tool_response.harnessNoteCount": "says how the reference has put its own notes into the report",
        "tool_response.harnessTailCount": "the same",
        "tool_response.harnessSectionHash": "the same",
        "tool_response.usage.output_tokens_details.thinking_tokens": "stands further down, as in results",
    },
    "StopFailure.invalid_request": {"error_details": "Forge does not keep the raw answer of the server"},
}
