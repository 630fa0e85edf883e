from __future__ import annotations

from typing import Any

import pytest

from doubles import call
from forge.agent.hooks.port import NOTHING, Block, Outcome
from forge.core.message import Text, Thinking
from forge.foundation.errors import ModelError
from unit.agent.casting import Cast, build, play, results, task, words

FAILING = ModelError("API Error: 400 bad thing", kind="invalid_request")
ENDS = ("SubagentStop", "StopFailure")


class Refusing:
    """Hooks that answer one event and note what the end of an agent tells."""

    def __init__(self, event: str = "", outcome: Outcome = NOTHING) -> None:
        self.event, self.outcome = event, outcome
        self.ends: list[tuple[str, Any, Any]] = []

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        if event in ENDS and "agent_id" in payload:
            told = payload.get("last_assistant_message"), payload.get("stop_hook_active")
            self.ends.append((event, *told))
        return self.outcome if event == self.event else NOTHING


@pytest.mark.requirement("S1-86")
@pytest.mark.parametrize(
    ("hooks", "requests", "is_error"),
    [
        (Refusing("PreToolUse", Outcome(verdict="deny", reason="not now")), 0, True),
        # As in the reference, the start itself can be watched but not refused.
        (Refusing("SubagentStart", Outcome(blocks=[Block("x", "not now")])), 1, False),
    ],
)
def test_an_agent_that_is_refused_costs_no_request(hooks: Refusing, requests: int, is_error: bool) -> None:
    model = Cast(MAIN=[[task("SUB")], [Text("end")]], SUB=[[Text("report")]])
    s = build(model, hooks=hooks)
    play(s)
    result = results(s)["call-1"]
    assert (len(model.requests("SUB")), bool(result.is_error)) == (requests, is_error)
    assert ("not now" in words(result)) is is_error


@pytest.mark.requirement("S1-88")
@pytest.mark.parametrize(
    ("turns", "end"),
    [
        ([[Text("report")]], ("SubagentStop", "report", False)),
        ([[call("Echo", text="x")], [Text("late")]], ("SubagentStop", "late", False)),
        ([[Thinking("hm", "sig")]], ("SubagentStop", None, False)),
        # As in the reference, an error of the model has an event of its own.
        ([FAILING], ("StopFailure", "API Error: 400 bad thing", None)),
        ([[call("Echo", text="x")], FAILING], ("StopFailure", "API Error: 400 bad thing", None)),
    ],
)
def test_the_end_of_an_agent_is_told_however_it_ends(turns: list[Any], end: tuple[str, Any, Any]) -> None:
    hooks = Refusing()
    play(build(Cast(MAIN=[[task("SUB")], [Text("end")]], SUB=turns), hooks=hooks))
    assert hooks.ends == [end]
