"""What a program of an Agent SDK must see, whichever language it is written in."""

from __future__ import annotations

from typing import Any

SUGGESTED = ["addRules", "addDirectories", "setMode"]
QUIET = "(Bash completed with no output)"
NO_BYPASS = (
    "Cannot set permission mode to bypassPermissions because the session was not launched with"
    " --dangerously-skip-permissions"
)
REPORTED = "Claude Code returned an error result: "

FACTS: dict[str, dict[str, Any]] = {
    "stream": {"results": ["one", "two"]},
    "turns": {
        "results": ["one", "two", "three"],
        "modes": ["default", "acceptEdits", "acceptEdits"],
        "models": ["claude-sonnet-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"],
        "sessions": 1,
        "info": ["account", "agents", "commands", "models", "output_style"],
    },
    "permission": {
        "asked": [["Bash", f"touch {name}.txt", SUGGESTED] for name in "abc"],
        "results": [[False, QUIET], [True, "not this one"], [False, QUIET], [False, QUIET]],
        "files": ["c.txt", "changed.txt", "d.txt"],
        "denials": [{"command": "touch b.txt"}],
        "states": ["running", *["requires_action", "running"] * 3, "idle"],
    },
    "raising": {"results": [[True, "Tool permission request failed: Error: boom"]]},
    "stop_tool": {"subtype": "error_during_execution", "errors": [True], "next": "again"},
    "stop_stream": {"subtype": "error_during_execution", "next": "done"},
    "partial": {"text": "Hello there friend", "several": True, "result": "Hello there friend"},
    "inner_mcp": {
        "results": [[None, "5"], [True, "nothing to add"]],
        "result": "ok",
        "status": [
            {
                "name": "calc",
                "status": "connected",
                "serverInfo": {"name": "calc", "version": "1.0.0"},
                "transport": "sdk",
                "scope": "dynamic",
                "source": "sdk",
                "tools": [{"name": "add", "annotations": {}}],
            }
        ],
    },
    "structured": {"value": {"name": "x", "n": 1}},
    "past": {"results": ["two", "three"], "same": True, "forked": True, "continued": True},
    "own_id": {"kept": True},
    "agents": {"result": "ok", "known": True, "inner": True, "told": ["task_started"]},
    "no_sources": {"errors": [False]},
    "sources": {"errors": [True]},
    "prompt_text": {"result": "ok"},
    "prompt_preset": {"result": "ok"},
    "prompt_file": {"result": "ok"},
    "tools": {"results": [[False, "allowed"]], "offered": [True, True, False]},
    "places": {"read": True, "echoed": True},
    "stderr": {"result": "ok", "heard": True},
    "image": {"result": "a dot"},
    "thinking": {"result": "ok"},
    "store": {"results": ["one", "two"], "same": True},
    "sessions": {"listed": [[True, "find me"]], "messages": ["user", "assistant"]},
    "rewind": {"files": [True, False]},
    "background": {
        "results": ["started", "finished"],
        "tasks": ["task_started", "task_updated", "task_notification"],
    },
    "given_settings": {"errors": [False]},
    "hooks": {
        "fired": [
            "UserPromptSubmit go",
            "PreToolUse touch a.txt",
            "PreToolUse touch b.txt",
            "PostToolUse touch changed.txt",
            "Stop False",
            "Stop True",
        ],
        "results": [[True, "PreToolUse:Bash hook error: not this one"], [False, QUIET]],
        "files": ["changed.txt"],
        "result": "ok",
    },
}
