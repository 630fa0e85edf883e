from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, allow, call, echo, session, tool
from forge.agent.event import Denied, ToolFinished
from forge.agent.host import Allow, AskPermission
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.models.cards import CLAUDE
from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.rule import parse_rule
from forge.foundation.permissions.situation import Situation

ASK = parse_rule("Echo", "ask", "userSettings", "/project")


def play(name: str, **facts: Any) -> tuple[list[str], list[str | None], bool | None]:
    """A call in auto mode with a host that allows everything: what it was asked and told, and the result."""
    host = RecordingHost(Allow())
    s = session(ScriptedModel([[call(name, text="x")]]), host, [tool(name, echo)], **facts)
    s.situation = s.situation.changed(mode="auto")
    asyncio.run(run_turn(s, Prompt("go", "prompt-1")))
    asked = [q.call.name for q in host.questions if isinstance(q, AskPermission)]
    return asked, [event.reason_code for event in host.of(Denied)], host.of(ToolFinished)[0].result.is_error


@pytest.mark.parametrize(
    ("name", "rules", "expected"),
    [
        ("Echo", allow("Echo"), ([], [], None)),
        # Nobody is asked in the place of the check.
        ("Echo", [], ([], ["auto_mode_no_check_in_session"], True)),
        ("Echo", [ASK], (["Echo"], [], None)),
        ("AskUserQuestion", [], (["AskUserQuestion"], [], None)),
    ],
)
def test_without_a_check_only_what_must_be_asked_is_asked(name: str, rules: list[Any], expected: Any) -> None:
    assert play(name, rules=rules) == expected


@pytest.mark.parametrize(
    ("name", "given", "verdict"),
    [
        ("Write", {"file_path": "/project/a", "content": ""}, "allow"),
        ("Write", {"file_path": "/elsewhere/a", "content": ""}, "ask"),
        ("Write", {"file_path": "/project/.git/config", "content": ""}, "ask"),
        ("Bash", {"command": "touch a"}, "allow"),
        ("Bash", {"command": "curl http://x"}, "ask"),
    ],
)
def test_files_of_the_workspace_need_no_check(name: str, given: dict[str, Any], verdict: str) -> None:
    assert decide(name, given, Situation(cwd="/project", home="/home/user", mode="auto")).verdict == verdict


def test_models_older_than_the_mode_do_not_know_it() -> None:
    old = {card.id for card in CLAUDE if not card.auto_mode}
    assert old == {
        "claude-opus-4-5",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "claude-sonnet-4-0",
        "claude-3-7-sonnet",
        "claude-3-5-haiku",
    }


@pytest.mark.parametrize(("rule", "told"), [("Bash(echo asked)", "rule"), ("Bash", None)])
def test_an_ask_rule_is_named_to_hosts_if_it_says_more_than_the_tool(rule: str, told: str | None) -> None:
    host = RecordingHost()
    rules: Any = [parse_rule(rule, "ask", "userSettings", "/project")]
    model = ScriptedModel([[call("Bash", command="echo asked")]])
    asyncio.run(run_turn(session(model, host, [tool("Bash", echo)], rules=rules), Prompt("go", "prompt-1")))
    assert [event.reason_type for event in host.of(Denied)] == [told]
