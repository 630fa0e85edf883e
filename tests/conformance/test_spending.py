"""Against the real reference CLI: searches of the provider, what they cost, sub-agents, to-do lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.test_reference import reference
from e2e.test_web_search import ASKED, FOUND, call
from fakemodel import serve
from forge_run import MODEL, STREAM, Run, environment, forge


def theirs(*args: str, cwd: Path, env: dict[str, str]) -> Run:
    return Run(0, reference(*args, cwd=cwd, env=env), "")


def test_a_search_is_asked_told_and_paid_alike(home: Path, tmp_path: Path) -> None:
    told: list[Any] = []
    for program in (theirs, forge):
        with serve(call(allowed_domains=["a.example", "b.example"])) as server:
            server.branch(ASKED, [FOUND])
            args = ("-p", "go", *STREAM, "--allowedTools", "WebSearch")
            run = program(*args, cwd=tmp_path, env=environment(home, server.url))
        result = run.of("user")[0]
        text = result["message"]["content"][0]["content"].rpartition("\n\n\n")[0]
        data = {k: v for k, v in result["tool_use_result"].items() if k != "durationSeconds"}
        body = server.bodies[1]
        asked = [body[key] for key in ("model", "tools", "tool_choice", "max_tokens", "stream")]
        spent = run.of("result")[0]["modelUsage"][MODEL]
        spent["costUSD"] = round(spent["costUSD"], 10)
        told.append((text, data, asked, body["messages"][0]["content"][0]["text"], spent))
    assert told[0] == told[1]


def test_usage_reads_the_sub_agents_of_both(home: Path, tmp_path: Path) -> None:
    wish = {"description": "look", "prompt": "SUBTASK", "subagent_type": "general-purpose"}
    calls = [[{"tool": "Agent", "input": {**wish, "run_in_background": False}}], [{"text": "end"}]]
    bash = {"tool": "Bash", "input": {"command": "true"}}
    shares: list[Any] = []
    for name, program in (("theirs", theirs), ("ours", forge)):
        place = tmp_path / name
        place.mkdir()
        with serve(calls) as server:
            server.branch("SUBTASK", [[bash, bash], [{"text": "sub"}]])
            env = environment(home, server.url)
            args = ("-p", "go", *STREAM, "--allowedTools", "Bash")
            cost = program(*args, cwd=place, env=env).of("result")[0]["total_cost_usd"]
        told = json.loads(forge("usage", "--here", "--json", cwd=place, env=env).out)
        assert told["total"]["costUSD"] == pytest.approx(cost)
        shares.append((told["agentTypes"], told["models"], [a["inputTokens"] for a in told["agents"]]))
    assert shares[0] == shares[1]


def test_both_find_their_to_do_list_again(home: Path, tmp_path: Path) -> None:
    todos = [{"content": "a", "status": "in_progress", "activeForm": "doing a"}]
    turns = [[{"tool": "TodoWrite", "input": {"todos": t}}] for t in (todos, [])]
    found: list[Any] = []
    for program in (theirs, forge):
        with serve([turns[0], [{"text": "one"}], turns[1], [{"text": "two"}]]) as server:
            env = environment(home, server.url, CLAUDE_CODE_ENABLE_TASKS="0")
            first = program("-p", "go", *STREAM, cwd=tmp_path, env=env)
            resume = ("--resume", first.of("result")[0]["session_id"])
            second = program("-p", "go on", *STREAM, *resume, cwd=tmp_path, env=env)
        found.append([run.of("user")[0]["tool_use_result"] for run in (first, second)])
    assert found[0] == found[1]
