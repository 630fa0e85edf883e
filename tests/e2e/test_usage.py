from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import MODEL, STREAM, environment, forge

FOUND = {"blocks": [{"text": "found"}], "usage": {"server_tool_use": {"web_search_requests": 1}}}
CENT = 0.01


def agent(prompt: str, **more: Any) -> dict[str, Any]:
    wish = {"description": f"do {prompt}", "prompt": prompt, "run_in_background": False, **more}
    return {"tool": "Agent", "input": wish}


def cost(requests: int, price_in: float, price_out: float) -> float:
    return requests * (10 * price_in + 5 * price_out) / 1e6


@pytest.fixture
def used(home: Path, tmp_path: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A session with two sub-agents: its result, and what `forge usage` says in both forms."""
    calls = [agent("LOOK", subagent_type="Explore", model="haiku"), agent("WORK")]
    with serve([calls, [{"text": "end"}]]) as server:
        server.branch("LOOK", [[{"tool": "WebSearch", "input": {"query": "it"}}], [{"text": "looked"}]])
        server.branch("WORK", [[{"tool": "Bash", "input": {"command": "true"}}], [{"text": "worked"}]])
        server.branch("Perform a web search", [FOUND])
        env = environment(home, server.url, COLUMNS="100")
        args = ("-p", "go", *STREAM, "--allowedTools", "WebSearch", "Bash")
        done = forge(*args, cwd=tmp_path, env=env)
    told = [forge("usage", *form, cwd=tmp_path, env=env) for form in (("--json",), ())]
    assert [(done.code, *(run.code for run in told)), told[1].err] == [(0, 0, 0), ""]
    return done.of("result")[0], json.loads(told[0].out), told[1].out


def test_usage_says_what_each_agent_has_cost(used: tuple[dict[str, Any], dict[str, Any], str]) -> None:
    result, told, _ = used
    small, large = cost(3, 0.1, 0.5) + CENT, cost(2, 3, 15)
    assert {row["agentType"]: row["costUSD"] for row in told["agentTypes"]} == pytest.approx(
        {"Explore": small, "general-purpose": large, "main": large}
    )
    assert {
        (a["agentType"], a["description"], *a["models"], a["inputTokens"], a["webSearchRequests"])
        for a in told["agents"]
    } == {
        ("Explore", "do LOOK", "claude-haiku-5-5", 30, 1),
        ("general-purpose", "do WORK", MODEL, 20, 0),
    }
    assert {a["sessionId"] for a in told["agents"]} == {result["session_id"]}


def test_every_table_adds_up_to_the_same_total(used: tuple[dict[str, Any], dict[str, Any], str]) -> None:
    result, told, _ = used
    assert told["total"]["costUSD"] == result["total_cost_usd"]
    for key in ("days", "models", "sessions", "agentTypes"):
        sums = {field: sum(row[field] for row in told[key]) for field in told["total"]}
        assert sums == pytest.approx(told["total"]), key
    spent = {name: row["costUSD"] for name, row in result["modelUsage"].items()}
    assert {row["model"]: row["costUSD"] for row in told["models"]} == spent


def test_the_table_names_kinds_and_agents(used: tuple[dict[str, Any], dict[str, Any], str]) -> None:
    _, told, shown = used
    heads = [line.split("  ")[0] for line in shown.splitlines() if " cost " in line]
    assert heads == ["Day", "Model", "Session", "Kind of agent", "Sub-agent"]
    explore = next(a for a in told["agents"] if a["agentType"] == "Explore")
    row = next(line for line in shown.splitlines() if line.startswith(explore["agentId"][:8]))
    assert row.split() == [explore["agentId"][:8], "Explore:", "do", "LOOK", "$0.0100", "30", "15", "0"]
