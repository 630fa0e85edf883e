from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sdk.asked import wrongly_asked
from sdk.expected import FACTS, NO_BYPASS, REPORTED
from sdk.more import MORE, MORE_EXPECTED
from sdk.playing import PARTS, SDKS, Played, different, play, share

PROGRAM = Path(__file__).with_name("python_program.py")

EXPECTED = {
    **FACTS,
    "query": {
        "kinds": ["init", "AssistantMessage", "ResultMessage"],
        "result": "hello",
        "text": ["hello"],
        "one session": True,
        "cwd": True,
    },
    "refusal": {"subtype": "error_during_execution", "files": [], "error": "ResultError"},
    "max_turns": {
        "subtype": "error_max_turns",
        "error": "ResultError",
        "words": f"{REPORTED}Reached maximum number of turns (1) (exit code: 1)",
    },
    "budget": {
        "subtype": "error_max_budget_usd",
        "error": "ResultError",
        "words": f"{REPORTED}Reached maximum budget ($0.01) (exit code: 1)",
    },
    "api_error": {
        "subtype": "success",
        "is_error": True,
        "result": "API Error: 400 bad thing",
        "error": "ResultError",
        "words": f"{REPORTED}API Error: 400 bad thing (exit code: 1)",
    },
    "no_session": {"error": "ResultError", "told": True},
    "large": {"result": "ok", "errors": [None, None, False]},
    "control": {
        "result": "one",
        "usage": ["claude-sonnet-4-5", True, 200_000, True],
        "mcp": {"mcpServers": []},
        "refused": [NO_BYPASS, "Server not found: x"],
    },
}


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_of_the_python_agent_sdk_run_on_forge(part: int, tmp_path: Path) -> None:
    played = played_by(PROGRAM, tmp_path, share(part))
    assert different(played.facts, EXPECTED) == {}
    assert wrongly_asked(played.bodies) == []


def test_programs_with_guards_queues_and_parallel_calls_run_on_forge(tmp_path: Path) -> None:
    played = played_by(PROGRAM.with_name("python_more_program.py"), tmp_path, MORE)
    assert different(played.facts, MORE_EXPECTED) == {}


def played_by(program: Path, place: Path, scenarios: dict[str, Any]) -> Played:
    package = SDKS / "python"
    if not package.is_dir():
        pytest.fail("the Agent SDK is not installed: run scripts/sdk-setup (make test does)")
    command = [sys.executable, "-W", "ignore", str(program)]
    return play(command, place, scenarios, PYTHONPATH=f"{package}{os.pathsep}{PROGRAM.parents[1]}")
