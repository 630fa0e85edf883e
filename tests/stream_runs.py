"""Headless runs that were recorded from the reference: what the model says and how the program is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fakemodel import serve
from forge_run import STREAM, Run, environment, forge

BASH = ("--allowedTools", "Bash")


def tool(used: str, /, **arguments: Any) -> dict[str, Any]:
    return {"tool": used, "input": arguments}


def text(words: str) -> list[dict[str, Any]]:
    return [{"text": words}]


def failing(status: int, kind: str, message: str, times: int = 9) -> dict[str, Any]:
    return {
        "errors": [{"status": status, "error": {"type": kind, "message": message}}] * times,
        "blocks": text("finally"),
    }


# A call whose whole input arrives at once, as the recording has it.
ECHO_HI = {
    "block": {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}},
    "deltas": [{"type": "input_json_delta", "partial_json": '{"command": "echo hi"}'}],
}

# name of the recording: turns of the model, arguments, environment
RUNS: dict[str, tuple[list[Any], tuple[str, ...], dict[str, str]]] = {
    "text": ([text("Hello there")], (), {}),
    "tool-bash": (
        [
            [*text("I will run it."), tool("Bash", command="echo hello", description="say hello")],
            text("done"),
        ],
        BASH,
        {},
    ),
    "tool-denied": ([[tool("Bash", command="touch x.txt")], text("could not")], (), {}),
    "tool-denied-rule": (
        [[tool("Bash", command="touch x.txt")], text("could not")],
        ("--disallowedTools", "Bash(touch *)"),
        {},
    ),
    "max-turns": ([[tool("Bash", command="echo 1")], text("x")], ("--max-turns", "1"), {}),
    "api-error-400": ([failing(400, "invalid_request_error", "bad thing")], (), {}),
    "api-error-429": ([failing(429, "rate_limit_error", "slow down")], (), {"CLAUDE_CODE_MAX_RETRIES": "1"}),
    "api-retry": ([failing(529, "overloaded_error", "busy", times=2)], (), {}),
    "partial-messages": (
        [{"blocks": [*text("Hello there friend"), ECHO_HI], "stop": "tool_use"}, text("bye now")],
        (*BASH, "--include-partial-messages"),
        {},
    ),
    "thinking-partial": (
        [[{"thinking": "let me think", "signature": "c2ln", "pieces": 1}, *text("Answer")]],
        ("--include-partial-messages",),
        {},
    ),
    "read-edit-write": (
        [
            [tool("Read", file_path="{cwd}/README.md")],
            [tool("Edit", file_path="{cwd}/README.md", old_string="hello", new_string="bye")],
            [tool("Write", file_path="{cwd}/new.txt", content="a\nb\n")],
            text("ok"),
        ],
        ("--permission-mode", "acceptEdits"),
        {},
    ),
    "bash-error": ([[tool("Bash", command="echo out; echo err >&2; exit 3")], text("ok")], BASH, {}),
    "unknown-tool": ([[tool("Nope")], text("ok")], (), {}),
    "bad-input": ([[tool("Bash", cmd="x")], text("ok")], BASH, {}),
    "structured-output": (
        [[tool("StructuredOutput", name="x", n=1)]],
        (
            "--json-schema",
            json.dumps(
                {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}
            ),
        ),
        {},
    ),
}


def play(name: str, place: Path) -> tuple[Run, Path, Path]:
    """Repeats a run with `forge`; the run, its directory and its home."""
    turns, args, more = RUNS[name]
    home, cwd = place / "home", place / "project"
    home.mkdir()
    cwd.mkdir()
    (cwd / "README.md").write_text("hello\nworld\n")
    filled = json.loads(json.dumps(turns).replace("{cwd}", str(cwd)))
    with serve(filled) as server:
        run = forge("-p", "go", *STREAM, *args, cwd=cwd, env=environment(home, server.url, **more))
    return run, cwd, home
