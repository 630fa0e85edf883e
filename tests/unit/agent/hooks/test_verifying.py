from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, Turn, call, echo, session, tool
from forge.agent.hooks.port import Outcome
from forge.agent.hooks.verifying import MAX_TURNS
from forge.core.message import Text
from unit.agent.hooks.making import engine

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1"}


def verify(cwd: Path, *turns: Turn) -> tuple[Outcome, ScriptedModel]:
    handler = {"type": "agent", "prompt": "Check $ARGUMENTS", "timeout": 20}
    made = engine({"PreToolUse": [{"hooks": [handler]}]})
    model = ScriptedModel(list(turns))
    s = session(model, RecordingHost(), [tool("Echo", echo)], hooks=made, cwd=str(cwd))
    made.session = s
    return asyncio.run(made.fire("PreToolUse", **CALL)), model


@pytest.mark.requirement("S0-35", "S1-26")
def test_an_agent_looks_into_it_and_hands_over_its_judgement(tmp_path: Path) -> None:
    no = call("StructuredOutput", "c2", ok=False, reason="not tested")
    outcome, model = verify(tmp_path, [call("Echo", text="look")], [no])
    assert outcome.reason == "Agent hook condition was not met: not tested"
    assert (outcome.verdict, len(model.requests)) == ("deny", 2)
    first = model.requests[0]
    assert first.messages[0].blocks[-1] == Text(f"Check {_payload(first.messages[0].text)}")
    assert sorted(spec.name for spec in first.tools) == ["Echo", "StructuredOutput"]


def test_an_agent_that_agrees_changes_nothing(tmp_path: Path) -> None:
    outcome, _ = verify(tmp_path, [call("StructuredOutput", ok=True, reason="fine")])
    assert (outcome.verdict, outcome.errors) == ("", 0)


@pytest.mark.requirement("S1-29")
def test_an_agent_that_never_ends_is_stopped(tmp_path: Path) -> None:
    turns: list[Turn] = [[call("Echo", f"c{n}", text="x")] for n in range(60)]
    outcome, model = verify(tmp_path, *turns)
    assert (outcome.verdict, outcome.errors, len(model.requests)) == ("", 1, MAX_TURNS)


def _payload(text: str) -> str:
    return text[text.index("{") : text.rindex("}") + 1]
