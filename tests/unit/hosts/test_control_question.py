from __future__ import annotations

from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.host import Allow, Answer, AskPermission, Refuse
from forge.foundation.permissions.situation import Decision
from forge.hosts.control_question import can_use_tool, read_answer

INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', "
    "updatedInput?: object} or {behavior: 'deny', message: string}."
    " updatedPermissions may hold at most 4096 updates, rules and directories in all."
)
UPDATE = {"type": "setMode", "mode": "plan", "destination": "session"}


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ({"behavior": "allow"}, Allow()),
        ({"behavior": "allow", "updatedInput": {"a": 1}}, Allow({"a": 1})),
        ({"behavior": "allow", "decisionClassification": "user_permanent"}, Allow(kind="user_permanent")),
        ({"behavior": "allow", "decisionClassification": "forever"}, Allow()),
        ({"behavior": "allow", "updatedPermissions": [UPDATE]}, Allow(None, [UPDATE])),
        ({"behavior": "allow", "updatedInput": "x", "updatedPermissions": "y"}, Allow()),
        ({"behavior": "deny", "message": "no"}, Refuse("no")),
        ({"behavior": "deny", "message": "no", "interrupt": True}, Refuse("no", interrupt=True)),
        ({"behavior": "deny"}, Refuse(INVALID)),
        ({"behavior": "perhaps", "message": "x"}, Refuse(INVALID)),
        ({}, Refuse(INVALID)),
    ],
)
def test_answers_of_a_host_are_read_strictly(answer: dict[str, Any], meant: Answer) -> None:
    assert read_answer(answer) == meant


@pytest.mark.parametrize(
    ("name", "given", "about"),
    [
        ("Bash", {"command": "ls", "description": "Look"}, "Look"),
        ("Bash", {"command": "ls"}, "ls"),
        ("Write", {"file_path": "/project/a/b.txt", "content": "x"}, "a/b.txt"),
        ("Read", {"file_path": "/etc/hosts"}, "/etc/hosts"),
        ("WebFetch", {"url": "http://x", "prompt": "p"}, "http://x"),
        ("Agent", {"description": "d", "prompt": "p"}, "d"),
        ("Skill", {"skill": "greet"}, None),
        ("Write", {"file_path": 5}, None),
    ],
)
def test_a_host_is_told_what_a_call_is_about(name: str, given: dict[str, Any], about: str | None) -> None:
    s = session(ScriptedModel([]), RecordingHost(), [])
    asked = can_use_tool(AskPermission(call(name, **given), Decision("ask", "may it?")), s)
    assert asked.get("description") == about
