from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from fakemodel.server import Server
from forge_run import MODEL, STREAM, environment, forge

REPORT = [{"text": "sub report"}]
HOST = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--model", MODEL)


def agent(**more: Any) -> list[dict[str, Any]]:
    wish = {"description": "look", "prompt": "SUBTASK", "run_in_background": False, **more}
    return [{"tool": "Agent", "input": {k: v for k, v in wish.items() if v is not None}}]


def bash(command: str) -> list[dict[str, Any]]:
    return [{"tool": "Bash", "input": {"command": command}}]


def inner(server: Server) -> list[Any]:
    """Requests of sub-agents."""
    return [b for b in server.bodies if "SUBTASK" in json.dumps(b["messages"][0])]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


def test_a_background_agent_holds_the_result_until_the_model_has_heard_of_it(
    home: Path, project: Path
) -> None:
    with serve([agent(run_in_background=None), [{"text": "started"}], [{"text": "all done"}]]) as server:
        server.branch("SUBTASK", [bash("echo hi"), REPORT])
        args = ("-p", "go", *STREAM, "--allowedTools", "Bash")
        run = forge(*args, cwd=project, env=environment(home, server.url))
        news = json.dumps(server.bodies[-1]["messages"][-1])
    first, second = run.of("result")
    assert (run.code, first["result"], second["result"]) == (0, "started", "all done")
    assert first["subagent_stats"]["started_in_background"] == 1
    assert second["total_cost_usd"] == pytest.approx(5 * (10 * 3 + 5 * 15) / 1e6)
    assert "<result>sub report</result>" in news


def test_agents_of_the_command_line_are_offered_and_used(home: Path, project: Path) -> None:
    mine = {"reviewer": {"description": "reviews code", "prompt": "You review.", "tools": ["Read", "Grep"]}}
    with serve([agent(subagent_type="Reviewer"), [{"text": "end"}]]) as server:
        server.branch("SUBTASK", [REPORT])
        args = ("-p", "go", *STREAM, "--agents", json.dumps(mine), "--append-subagent-system-prompt", "OURS")
        run = forge(*args, cwd=project, env=environment(home, server.url))
        (request,) = inner(server)
        listed = json.dumps(server.bodies[0]["messages"][0])
    names = ["claude", "Explore", "general-purpose", "Plan", "reviewer"]
    assert run.of("system", "init")[0]["agents"] == names, run.err
    assert "- reviewer: reviews code (Tools: Read, Grep)" in listed
    assert [t["name"] for t in request["tools"]] == ["Grep", "Read"]
    text = request["system"][-1]["text"]
    assert text.startswith("You review.\n\n") and text.endswith("\n\nOURS")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--agents", '{"a": {"description": "d"}}'),
            "Error: Invalid --agents configuration:\n"
            "a.prompt: Invalid input: expected string, received undefined\n",
        ),
        (("--agents", "{nope"), "Error: Invalid --agents configuration: not valid JSON: "),
        (("--agents", "missing.json"), "Error: --agents file not found: "),
        (
            ("--agent", "nope"),
            "Error: --agent 'nope' not found. Available agents: claude, Explore, general-purpose, Plan\n",
        ),
    ],
)
def test_wrong_agent_options_are_clear_errors(
    home: Path, project: Path, args: tuple[str, ...], message: str
) -> None:
    with serve([]) as server:
        run = forge("-p", "go", *args, cwd=project, env=environment(home, server.url))
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith(message)


def test_an_agent_can_be_the_main_agent(home: Path, project: Path) -> None:
    mine = {"boss": {"description": "d", "prompt": "You are the boss.", "tools": ["Read"], "model": "haiku"}}
    (project / "agents.json").write_text(json.dumps(mine))
    with serve([REPORT]) as server:
        args = ("-p", "go", "--agents", "agents.json", "--agent", "boss")
        run = forge(*args, cwd=project, env=environment(home, server.url))
        (request,) = server.bodies
    assert run.code == 0, run.err
    assert [t["name"] for t in request["tools"]] == ["Read"]
    assert request["system"][-1]["text"] == "You are the boss."
    assert "haiku" in request["model"]


def test_an_agent_can_use_the_model_of_another_provider(home: Path, project: Path) -> None:
    with serve([agent(model="cheap/small"), [{"text": "end"}]]) as server, serve([REPORT]) as other:
        provider = {
            "protocol": "openai_chat",
            "baseUrl": f"{other.url}/v1",
            "models": {"small": {"price": {"input": 1, "output": 1}}},
        }
        args = ("-p", "go", *STREAM, "--settings", json.dumps({"providers": {"cheap": provider}}))
        run = forge(*args, cwd=project, env=environment(home, server.url))
        assert len(other.bodies) == 1, run.out
    (result,) = run.of("result")
    assert {name: row["provider"] for name, row in result["modelUsage"].items()} == {
        MODEL: "firstParty",
        "small": "cheap",
    }
    costs = [row["costUSD"] for row in result["modelUsage"].values()]
    assert result["total_cost_usd"] == pytest.approx(sum(costs))


def test_a_host_defines_agents_and_hears_which_agent_asks(home: Path, project: Path) -> None:
    with serve([agent(subagent_type="rev"), [{"text": "end"}]]) as server:
        server.branch("SUBTASK", [bash("touch made"), REPORT])
        child = subprocess.Popen(
            [sys.executable, "-m", "forge", *HOST, "--permission-prompt-tool", "stdio"],
            cwd=project,
            env=environment(home, server.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdin is not None and child.stdout is not None
        agents = {"rev": {"description": "reviews", "prompt": "p"}}
        begin = {"subtype": "initialize", "agents": agents, "forwardSubagentText": True}
        first = [
            {"type": "control_request", "request_id": "r1", "request": begin},
            {"type": "user", "message": {"role": "user", "content": "go"}},
        ]
        child.stdin.write("".join(json.dumps(line) + "\n" for line in first))
        child.stdin.flush()
        records: list[dict[str, Any]] = []
        for line in child.stdout:
            records.append(json.loads(line))
            if records[-1]["type"] == "control_request":
                body = {"behavior": "allow", "updatedInput": records[-1]["request"]["input"]}
                answer = {
                    "subtype": "success",
                    "request_id": records[-1]["request_id"],
                    "response": body,
                }
                child.stdin.write(json.dumps({"type": "control_response", "response": answer}) + "\n")
                child.stdin.flush()
            if records[-1]["type"] == "result":
                child.stdin.close()
        child.stdout.close()
        assert child.wait(10) == 0
    (asked,) = [r["request"] for r in records if r["type"] == "control_request"]
    (started,) = [r for r in records if r.get("subtype") == "task_started"]
    texts = [
        r["message"]["content"][0].get("text")
        for r in records
        if r["type"] == "assistant" and r["parent_tool_use_id"]
    ]
    rows = next(r["response"]["response"]["agents"] for r in records if r["type"] == "control_response")
    assert (asked["agent_id"], started["subagent_type"]) == (started["task_id"], "rev")
    assert {"name": "rev", "description": "reviews"} in rows
    assert texts == [None, "sub report"]
    assert (project / "made").exists()


def test_an_interrupt_reaches_the_command_of_a_sub_agent(home: Path, project: Path) -> None:
    with serve([agent()]) as server:
        server.branch("SUBTASK", [bash("echo $$ > pid; sleep 20")])
        child = subprocess.Popen(
            [sys.executable, "-m", "forge", "-p", "go", *STREAM, "--permission-mode", "bypassPermissions"],
            cwd=project,
            env=environment(home, server.url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        while not (project / "pid").exists() or not (project / "pid").read_text():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=10)
    records = [json.loads(line) for line in out.splitlines()]
    answered = [r["message"]["content"][0].get("tool_use_id") for r in records if r["type"] == "user"]
    pid = int((project / "pid").read_text())
    assert (child.returncode, records[-1]["subtype"]) == (0, "error_during_execution")
    assert len([a for a in answered if a]) == 2
    assert not Path(f"/proc/{pid}").exists()
    assert [r["status"] for r in records if r.get("subtype") == "task_notification"] == ["stopped"]
