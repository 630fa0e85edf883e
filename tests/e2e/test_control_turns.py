from __future__ import annotations

from pathlib import Path

import pytest

from control_host import Host
from fakemodel import serve
from forge_run import environment, forge

BOSS = {"boss": {"description": "leads", "prompt": "You are the boss.", "tools": ["Read"], "model": "haiku"}}
ENTRY = "99999999-9999-4999-8999-999999999999"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def begin(started: list[Host], project: Path, env: dict[str, str], *args: str) -> Host:
    started.append(Host(project, env, *args))
    return started[-1]


def test_an_agent_the_host_defines_can_be_the_main_one(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[{"text": "ok"}]]) as server:
        host = begin(started, project, environment(home, server.url), "--agent", "boss")
        assert host.request("initialize", agents=BOSS)["subtype"] == "success"
        host.say("go")
        assert host.until("result")["result"] == "ok"
        assert host.finish() == 0
        (body,) = server.bodies
    assert body["system"][-1]["text"] == "You are the boss."
    assert [tool["name"] for tool in body["tools"]] == ["Read"]


def test_a_main_agent_nobody_defines_ends_the_run_with_a_reason(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([]) as server:
        host = begin(started, project, environment(home, server.url), "--agent", "boss")
        assert "--agent 'boss' not found" in host.request("initialize")["error"]
        host.say("go")
        assert "--agent 'boss' not found" in host.until("result")["errors"][0]
        assert host.finish() == 1


def test_a_host_can_clear_the_conversation(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"text": "one"}]]) as server:
        host = begin(started, project, environment(home, server.url))
        results = []
        for words in ("first", "/clear", "second"):
            host.say(words)
            results.append(host.until("result"))
        assert host.finish() == 0
        bodies = server.bodies
    assert [(r["result"], r["num_turns"]) for r in results] == [("one", 1), ("", 0), ("one", 1)]
    (reset,) = [r for r in host.records if r["type"] == "conversation_reset"]
    old, new = reset["session_id"], reset["new_conversation_id"]
    assert [r["session_id"] for r in results] == [old, new, new]
    assert [len(body["messages"]) for body in bodies] == [1, 1]


def test_going_back_to_an_unknown_entry_says_so(home: Path, project: Path) -> None:
    with serve([[{"text": "one"}]]) as server:
        env = environment(home, server.url)
        forge("-p", "hi", "--name", "mine", cwd=project, env=env)
        run = forge("-p", "x", "--resume", "mine", "--resume-session-at", ENTRY, cwd=project, env=env)
    assert (run.code, run.err) == (1, f"No message found with message.uuid of: {ENTRY}\n")
