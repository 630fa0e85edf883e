from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from control_host import ASKING, Host
from fakemodel import serve
from forge_run import STREAM, environment, forge

QUESTION = {
    "questions": [
        {
            "question": "Which?",
            "header": "Pick",
            "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
            "multiSelect": False,
        }
    ]
}
INTERACTIVE = {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}


def tool(used: str, /, **given: Any) -> list[dict[str, Any]]:
    return [{"tool": used, "input": given}]


OK = [{"text": "ok"}]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def results(records: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Text and structured form of every tool result."""
    users = [r for r in records if r["type"] == "user" and "tool_use_result" in r]
    return [(r["message"]["content"][0]["content"], r["tool_use_result"]) for r in users]


def test_questions_and_plans_go_through_the_host_as_recorded(
    home: Path, project: Path, started: list[Host]
) -> None:
    turns = [tool("AskUserQuestion", **QUESTION), tool("ExitPlanMode"), OK]
    with serve(turns) as server:
        host = Host(project, environment(home, server.url), *ASKING, "--permission-mode", "plan")
        started.append(host)
        host.say("go")
        asked = host.until("control_request")
        host.answer(asked, {"behavior": "allow", "updatedInput": {**QUESTION, "answers": {"Which?": "B"}}})
        leaving = host.until("control_request")
        host.answer(leaving, {"behavior": "allow", "updatedInput": {}})
        result = host.until("result")
        assert host.finish() == 0
    for request, name, given in ((asked, "AskUserQuestion", QUESTION), (leaving, "ExitPlanMode", {})):
        told = {
            k: v for k, v in request["request"].items() if k not in ("tool_use_id", "permission_suggestions")
        }
        assert told == {
            "subtype": "can_use_tool",
            "tool_name": name,
            "display_name": name,
            "input": given,
            "requires_user_interaction": True,
        }
    (answered, approved) = results(host.records)
    assert answered == (
        'Your questions have been answered: "Which?"="B". You can now continue with these answers in mind.',
        {**QUESTION, "answers": {"Which?": "B"}},
    )
    path = Path(approved[1]["filePath"])
    assert path.parent == home / ".claude" / "plans"
    assert approved == (
        "User has approved exiting plan mode. You can now proceed.",
        {"plan": None, "isAgent": False, "filePath": str(path)},
    )
    order = [(r["type"], r.get("subtype"), r.get("permissionMode")) for r in host.records]
    assert order[0] == ("system", "init", "plan")
    assert order.index(("system", "status", "default")) < len(order) - 3
    assert (result["result"], result["num_turns"], result["permission_denials"]) == ("ok", 3, [])
    assert INTERACTIVE.issubset(host.records[0]["tools"])


def test_a_plan_in_the_file_is_approved_and_the_mode_before_returns(
    home: Path, project: Path, started: list[Host]
) -> None:
    turns = [tool("EnterPlanMode"), tool("ExitPlanMode"), OK]
    with serve(turns) as server:
        host = Host(
            project,
            environment(home, server.url),
            *ASKING,
            "--permission-mode",
            "acceptEdits",
            "--settings",
            json.dumps({"plansDirectory": str(project)}),
        )
        started.append(host)
        host.say("go")
        asked = host.until("control_request")
        path = Path(results(host.records)[0][0].partition(str(project))[2].partition(".md")[0][1:] + ".md")
        (project / path).write_text("1. do it")
        host.answer(asked, {"behavior": "allow"})
        host.until("result")
        assert host.finish() == 0
    words, data = results(host.records)[1]
    assert words.endswith("## Approved Plan:\n1. do it")
    assert data == {"plan": "1. do it", "isAgent": False, "filePath": str(project / path)}
    modes = [
        r["permissionMode"] for r in host.records if r.get("subtype") == "status" and "permissionMode" in r
    ]
    assert modes == ["plan", "acceptEdits"]


def test_a_plan_the_user_changed_replaces_the_one_in_the_file(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([tool("ExitPlanMode"), OK]) as server:
        host = Host(project, environment(home, server.url), *ASKING, "--permission-mode", "plan")
        started.append(host)
        host.say("go")
        host.answer(host.until("control_request"), {"behavior": "allow", "updatedInput": {"plan": "mine"}})
        host.until("result")
        assert host.finish() == 0
    words, data = results(host.records)[0]
    assert words.endswith("## Approved Plan (edited by user):\nmine")
    assert (data["plan"], data["planWasEdited"], Path(data["filePath"]).read_text()) == ("mine", True, "mine")


def test_a_refused_plan_leaves_the_session_in_plan_mode(
    home: Path, project: Path, started: list[Host]
) -> None:
    with serve([tool("ExitPlanMode"), tool("ExitPlanMode"), OK]) as server:
        host = Host(project, environment(home, server.url), *ASKING, "--permission-mode", "plan")
        started.append(host)
        host.say("go")
        host.answer(host.until("control_request"), {"behavior": "deny", "message": "not yet"})
        host.answer(host.until("control_request"), {"behavior": "allow", "updatedInput": {}})
        result = host.until("result")
        assert host.finish() == 0
    assert [text for text, _ in results(host.records)] == [
        "not yet",
        "User has approved exiting plan mode. You can now proceed.",
    ]
    assert [denial["tool_name"] for denial in result["permission_denials"]] == ["ExitPlanMode"]


def test_without_a_host_nobody_is_asked(home: Path, project: Path) -> None:
    with serve([tool("AskUserQuestion", **QUESTION), OK]) as server:
        run = forge("-p", "go", *STREAM, cwd=project, env=environment(home, server.url))
    assert INTERACTIVE.isdisjoint(run.records[0]["tools"])
    assert "No such tool available: AskUserQuestion" in results(run.records)[0][0]


def test_tasks_outlive_the_process(home: Path, project: Path) -> None:
    env_of = [tool("TaskCreate", subject="a", description="d"), OK]
    with serve(env_of) as server:
        first = forge("-p", "go", *STREAM, cwd=project, env=environment(home, server.url))
    session = first.records[0]["session_id"]
    with serve([OK, OK, tool("TaskList"), OK]) as server:
        second = forge(
            "-p", "go on", "--resume", session, *STREAM, cwd=project, env=environment(home, server.url)
        )
    assert results(first.records)[0][0] == "Task #1 created successfully: a"
    assert results(second.records)[0][0] == "#1 [pending] a"


def test_a_notebook_is_edited_after_it_was_read(home: Path, project: Path) -> None:
    cell = {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": "# T"}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "n.ipynb").write_text(json.dumps(book, indent=1))
    change = {"notebook_path": "n.ipynb", "cell_id": "m1", "new_source": "new"}
    turns = [
        tool("NotebookEdit", **change),
        tool("Read", file_path="n.ipynb"),
        tool("NotebookEdit", **change),
        OK,
    ]
    with serve(turns) as server:
        env = environment(home, server.url)
        run = forge("-p", "go", *STREAM, "--permission-mode", "acceptEdits", cwd=project, env=env)
    texts = [text for text, _ in results(run.records)]
    assert texts[::2] == [
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "Updated cell m1 with new",
    ]
    assert (project / "n.ipynb").read_text() == json.dumps(book, indent=1).replace("# T", "new")


@pytest.mark.parametrize(
    ("wanted", "offered", "first", "then"),
    [("true", True, False, True), ("false", False, True, True)],
)
def test_deferred_tools_are_sent_once_they_are_loaded(
    home: Path, project: Path, wanted: str, offered: bool, first: bool, then: bool
) -> None:
    with serve([tool("ToolSearch", query="select:TaskList", max_results=5), OK]) as server:
        env = environment(home, server.url, ENABLE_TOOL_SEARCH=wanted)
        run = forge("-p", "go", *STREAM, cwd=project, env=env)
    sent = [{t["name"] for t in body["tools"]} for body in server.bodies]
    assert [("ToolSearch" in names, "TaskList" in names) for names in sent] == [
        (offered, first),
        (offered, then),
    ]
    assert "TaskList" in run.records[0]["tools"]


def test_a_resumed_conversation_still_has_its_to_do_list(home: Path, project: Path) -> None:
    todos = [{"content": "a", "status": "in_progress", "activeForm": "doing a"}]
    turns = [tool("TodoWrite", todos=todos), OK, tool("TodoWrite", todos=[]), OK]
    with serve(turns) as server:
        env = environment(home, server.url, CLAUDE_CODE_ENABLE_TASKS="0")
        first = forge("-p", "go", *STREAM, cwd=project, env=env)
        session = first.of("result")[0]["session_id"]
        second = forge("-p", "go on", *STREAM, "--resume", session, cwd=project, env=env)
    assert [results(run.records)[0][1] for run in (first, second)] == [
        {"oldTodos": [], "newTodos": todos},
        {"oldTodos": todos, "newTodos": []},
    ]
