from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sdk.asked import wrongly_asked
from sdk.expected import FACTS, NO_BYPASS, REPORTED
from sdk.playing import PARTS, SDKS, different, play, share

PROGRAM = Path(__file__).with_name("typescript_program.mjs")

EXPECTED = {
    **FACTS,
    "query": {
        "kinds": ["init", "assistant", "result"],
        "result": "hello",
        "text": ["hello"],
        "one session": True,
        "cwd": True,
    },
    "refusal": {"subtype": "error_during_execution", "files": [], "failed": True},
    "max_turns": {
        "subtype": "error_max_turns",
        "failed": True,
        "words": f"{REPORTED}Reached maximum number of turns (1)",
    },
    "budget": {
        "subtype": "error_max_budget_usd",
        "failed": True,
        "words": f"{REPORTED}Reached maximum budget ($0.01)",
    },
    "api_error": {
        "subtype": "success",
        "is_error": True,
        "result": "API Error: 400 bad thing",
        "failed": True,
        "words": f"{REPORTED}API Error: 400 bad thing",
    },
    "no_session": {"failed": True, "told": True},
    "large": {"result": "ok", "errors": [None, None, False], "bounded": True},
    "control": {
        "result": "one",
        "usage": ["claude-sonnet-4-5", True, 200_000, True],
        "mcp": [],
        "servers": {"added": [], "removed": [], "errors": {}},
        "commands": True,
        "models": True,
        "agents": True,
        "account": "ANTHROPIC_API_KEY",
        "skills": {"skills": []},
        "read": "noted",
        "seeded": True,
        "stopped": True,
        "refused": [NO_BYPASS, "Server not found: x"],
        "write": False,
    },
}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="npm is not installed")
def test_programs_of_the_typescript_agent_sdk_run_on_forge(part: int, tmp_path: Path) -> None:
    module = SDKS / "node" / "node_modules" / "@anthropic-ai" / "claude-agent-sdk" / "sdk.mjs"
    if not module.is_file():
        pytest.fail("the Agent SDK is not installed: run scripts/sdk-setup (make test does)")
    played = play(["node", str(PROGRAM)], tmp_path, share(part), SDK_MODULE=str(module))
    assert different(played.facts, EXPECTED) == {}
    assert wrongly_asked(played.bodies) == []
