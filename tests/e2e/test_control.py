from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from control_host import ASKING, Host
from fakemodel import serve
from forge_run import environment


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def touch(name: str) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": f"touch {name}"}}


def test_a_host_allows_with_another_input_and_denies(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[touch("a.txt")], [touch("b.txt")], [{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url), *ASKING)
        started.append(host)
        assert host.request("initialize", hooks=None)["subtype"] == "success"
        host.say("go")
        first = host.until("control_request")
        host.answer(first, {"behavior": "allow", "updatedInput": {"command": "touch changed.txt"}})
        second = host.until("control_request")
        host.answer(second, {"behavior": "deny", "message": "nope"})
        result = host.until("result")
        assert host.finish() == 0
    assert first["request"] == {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "display_name": "Bash",
        "input": {"command": "touch a.txt"},
        "description": "touch a.txt",
        "permission_suggestions": [
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash", "ruleContent": "touch a.txt"}],
                "behavior": "allow",
                "destination": "localSettings",
            },
            {"type": "addDirectories", "directories": [str(project)], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ],
        "blocked_path": str(project / "a.txt"),
        "tool_use_id": first["request"]["tool_use_id"],
    }
    assert sorted(p.name for p in project.iterdir() if not p.name.startswith(".")) == ["changed.txt"]
    assert [d["tool_input"] for d in result["permission_denials"]] == [{"command": "touch b.txt"}]


def test_a_remembered_rule_is_written_and_settles_the_next_call(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[touch("a.txt")], [touch("a.txt")], [{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url), *ASKING)
        started.append(host)
        host.say("go")
        asked = host.until("control_request")
        suggestion = asked["request"]["permission_suggestions"][0]
        host.answer(
            asked,
            {
                "behavior": "allow",
                "updatedInput": asked["request"]["input"],
                "updatedPermissions": [suggestion],
            },
        )
        host.until("result")
        assert host.finish() == 0
    assert sum(r["type"] == "control_request" for r in host.records) == 1
    written = json.loads((project / ".forge" / "settings.local.json").read_text())
    assert written == {"permissions": {"allow": ["Bash(touch a.txt)"]}}


def test_without_a_host_to_ask_a_call_is_denied(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[touch("a.txt")], [{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url))
        started.append(host)
        host.say("go")
        host.until("result")
        host.finish()
    assert [r["subtype"] for r in host.records if r["type"] == "system"] == ["init", "permission_denied"]


def test_several_turns_run_in_one_process_with_an_init_each(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[{"text": "one"}], [{"text": "two"}]]) as server:
        host = Host(project, environment(home, server.url))
        started.append(host)
        host.say("q1")
        host.until("result")
        host.say([{"type": "text", "text": "q2"}])
        host.until("result")
        assert host.finish() == 0
    results = [(r["result"], r["result_index"]) for r in host.records if r["type"] == "result"]
    assert results == [("one", 0), ("two", 1)]
    assert sum(r.get("subtype") == "init" for r in host.records) == 2


def test_an_interrupt_answers_the_open_call_and_the_session_goes_on(
    home: Path, project: Path, started: list[Host]
) -> None:
    sleep = {"tool": "Bash", "input": {"command": "sleep 20"}}
    with serve([[sleep], [{"text": "x"}]]) as server:
        host = Host(project, environment(home, server.url), "--allowedTools", "Bash")
        started.append(host)
        host.say("go")
        host.until("assistant")
        assert host.request("interrupt")["response"] == {"still_queued": []}
        interrupted = host.until("result")
        host.say("again")
        assert host.until("result")["result"] == "x"
        assert host.finish() == 0
    assert (interrupted["subtype"], interrupted["terminal_reason"], interrupted["num_turns"]) == (
        "error_during_execution",
        "aborted_tools",
        3,
    )


def test_an_open_question_is_withdrawn_by_an_interrupt(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[touch("a.txt")], [{"text": "x"}]]) as server:
        host = Host(project, environment(home, server.url), *ASKING)
        started.append(host)
        host.say("go")
        asked = host.until("control_request")
        host.request("interrupt")
        host.until("result")
        host.finish()
    withdrawn = [r["request_id"] for r in host.records if r["type"] == "control_cancel_request"]
    assert withdrawn == [asked["request_id"]]
    assert not (project / "a.txt").exists()


def test_the_end_of_input_refuses_an_open_question_and_finishes_the_turn(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[touch("a.txt")], [{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url), *ASKING)
        started.append(host)
        host.say("go")
        host.until("control_request")
        assert host.finish() == 0
    assert host.records[-1]["result"] == "ok"
    assert not (project / "a.txt").exists()


def test_a_message_during_a_turn_is_folded_into_it(home: Path, project: Path, started: list[Host]) -> None:
    slow = {"tool": "Bash", "input": {"command": "while [ ! -e go ]; do sleep 0.05; done; echo A"}}
    with serve([[slow], [{"text": "one"}]]) as server:
        args = ("--permission-mode", "bypassPermissions", "--replay-user-messages")
        host = Host(project, environment(home, server.url), *args)
        started.append(host)
        host.say("m1", uuid="aaaaaaaa-0000-4000-8000-000000000001")
        host.until("assistant")
        host.say("m2", uuid="aaaaaaaa-0000-4000-8000-000000000002")
        host.until("command_lifecycle")
        (project / "go").touch()
        host.until("result")
        assert host.finish() == 0
    kinds = [
        (r["type"], r.get("state") or r.get("subtype") or ("replay" if r.get("isReplay") else ""))
        for r in host.records
    ]
    assert kinds == [
        ("command_lifecycle", "queued"),
        ("command_lifecycle", "started"),
        ("system", "init"),
        ("user", "replay"),
        ("assistant", ""),
        ("command_lifecycle", "queued"),
        ("user", ""),
        ("user", "replay"),
        ("command_lifecycle", "started"),
        ("assistant", ""),
        ("command_lifecycle", "completed"),
        ("result", "success"),
        ("command_lifecycle", "completed"),
    ]


def test_session_states_are_told_to_hosts_that_read_them(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[touch("a.txt")], [{"text": "ok"}]]) as server:
        env = environment(home, server.url, CLAUDE_CODE_SDK_READS_SESSION_STATE="1")
        host = Host(project, env, *ASKING)
        started.append(host)
        host.say("go")
        host.answer(host.until("control_request"), {"behavior": "allow"})
        host.until("result")
        host.finish()
    states = [r["state"] for r in host.records if r.get("subtype") == "session_state_changed"]
    assert states == ["running", "requires_action", "running", "idle"]


def test_text_without_a_query_waits_for_the_next_prompt(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([[{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url))
        started.append(host)
        host.say("context", shouldQuery=False)
        host.until("result")
        host.say("question")
        host.until("result")
        host.finish()
    assert [b["text"] for b in server.bodies[0]["messages"][0]["content"]][-2:] == ["context", "question"]
    assert len(server.bodies) == 1


def test_control_requests_change_the_session(home: Path, project: Path, started: list[Host]) -> None:
    with serve([[{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url))
        started.append(host)
        assert host.request("set_permission_mode", mode="acceptEdits")["response"] == {"mode": "acceptEdits"}
        assert (
            host.request("set_permission_mode", mode="bypassPermissions")["error_code"]
            == "bypass_not_launched"
        )
        assert host.request("set_permission_mode", mode="nope")["error_code"] == "invalid_mode"
        assert host.request("set_model", model="claude-haiku-4-5")["response"] == {
            "model": "claude-haiku-4-5"
        }
        assert host.request("get_settings")["response"]["effective"] == {}
        assert host.request("no_such_thing")["error"] == "Unsupported control request subtype: no_such_thing"
        host.say("go")
        host.until("result")
        assert host.finish() == 0
    init = next(r for r in host.records if r.get("subtype") == "init")
    assert (init["permissionMode"], init["model"]) == ("acceptEdits", "claude-haiku-4-5")


@pytest.mark.parametrize(
    ("lines", "code", "words"),
    [
        ([], 0, ""),
        (['{"type":"unknown"}', '{"type":"user"}', "[]"], 0, ""),
        (["not json"], 1, "Error parsing streaming input line"),
    ],
    ids=["nothing", "nothing to do", "not JSON"],
)
def test_odd_input_streams_end_the_process_as_the_reference_does(
    home: Path, project: Path, started: list[Host], lines: list[str], code: int, words: str
) -> None:
    host = Host(project, environment(home, "http://127.0.0.1:9"))
    started.append(host)
    for line in lines:
        host.send(line)
    assert host.finish() == code
    assert host.child.stderr is not None
    assert words in host.child.stderr.read()
