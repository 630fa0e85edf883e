"""What the model says in each scenario that a program of an Agent SDK plays."""

from __future__ import annotations

import json
from typing import Any


def bash(command: str) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command}}


def say(words: str) -> list[dict[str, Any]]:
    return [{"text": words}]


REFUSAL = {"status": 400, "error": {"type": "invalid_request_error", "message": "bad thing"}}
VALUE = {"name": "x", "n": 1}
ERRAND = {"description": "d", "prompt": "p", "subagent_type": "tester", "run_in_background": False}

# `{cwd}` and `{other}` become the scenario's own directory and one beside it.
TURNS: dict[str, list[Any]] = {
    "query": [say("hello")],
    "stream": [say("one"), say("two")],
    "turns": [say("one"), say("two"), say("three")],
    "permission": [
        [bash("touch a.txt")],
        [bash("touch b.txt")],
        [bash("touch c.txt")],
        [bash("touch d.txt")],
        say("ok"),
    ],
    "refusal": [[bash("touch a.txt")], say("never said")],
    "raising": [[bash("touch a.txt")], say("ok")],
    "stop_tool": [[bash("touch started; sleep 30")], say("again")],
    "stop_stream": [{"errors": [{"hang": 4}], "blocks": say("late")}],
    "partial": [say("Hello there friend")],
    "structured": [[{"tool": "StructuredOutput", "input": VALUE}]],
    "past": [say("one"), say("two"), say("three")],
    "own_id": [say("ok")],
    # The agent is asked the same: it has no tool for that, hears so, and says "ok", too.
    "agents": [
        [{"tool": "Agent", "input": ERRAND}],
        say("ok"),
    ],
    "no_sources": [[bash("touch a.txt")], say("ok")],
    "sources": [[bash("touch a.txt")], say("ok")],
    "prompt_text": [say("ok")],
    "prompt_preset": [say("ok")],
    "prompt_file": [say("ok")],
    "max_turns": [[bash("echo 1")], say("x")],
    "budget": [{"blocks": say("dear"), "usage": {"input_tokens": 1_000_000, "output_tokens": 5}}, say("x")],
    "tools": [[bash("echo allowed")], say("ok")],
    "places": [
        [{"tool": "Read", "input": {"file_path": "{other}/note.txt"}}],
        [bash('echo "$MY_VARIABLE"; pwd')],
        say("ok"),
    ],
    "api_error": [{"errors": [REFUSAL] * 9, "blocks": say("x")}],
    "no_session": [],
    "large": [
        [{"tool": "Read", "input": {"file_path": "{cwd}/large.txt", "limit": 5}}],
        [{"tool": "Write", "input": {"file_path": "{cwd}/large.txt", "content": "small"}}],
        [bash("head -c 3000000 /dev/zero | tr '\\0' x")],
        say("ok"),
    ],
    "stderr": [say("ok")],
    "image": [say("a dot")],
    "hooks": [[bash("touch a.txt")], [bash("touch b.txt")], say("one"), say("ok")],
    "inner_mcp": [
        [{"tool": "mcp__calc__add", "input": {"a": 2, "b": 3}}],
        [{"tool": "mcp__calc__add", "input": {"a": 2, "b": 0}}],
        say("ok"),
    ],
    "control": [say("one"), say("two")],
    "thinking": [say("ok")],
    "store": [say("one"), say("two")],
    "sessions": [say("kept")],
    "rewind": [
        [{"tool": "Write", "input": {"file_path": "{cwd}/new.txt", "content": "x"}}],
        say("ok"),
    ],
    "background": [
        [{"tool": "Bash", "input": {"command": "echo done", "run_in_background": True}}],
        say("started"),
        say("finished"),
    ],
    "given_settings": [[bash("touch a.txt")], say("ok")],
}


def turns(said: list[Any], cwd: str, other: str) -> list[Any]:
    """The turns of a scenario with its directories filled in."""
    text = json.dumps(said).replace("{cwd}", cwd).replace("{other}", other)
    filled: list[Any] = json.loads(text)
    return filled
