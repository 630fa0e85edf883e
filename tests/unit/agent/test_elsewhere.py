"""Calls a model has run itself, and the permission it asks for before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.elsewhere import workplace
from forge.agent.event import ToolFinished
from forge.agent.hooks.port import NOTHING, Outcome
from forge.agent.host import Allow, Refuse
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session, Turn
from forge.core.message import Text, ToolResult, ToolUse, Usage
from forge.core.model import Delta, Finished, Permission, Request
from forge.core.tool import ToolContext, ToolOutput

PROMPT = Prompt("hello", "prompt-1")


class Busy(ScriptedModel):
    """A model that has run the call `call-1` of its first reply itself, at a cost it names."""

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        async for delta in super().stream(request):
            if isinstance(delta, Finished) and delta.message.calls:
                done = [ToolResult("call-1", "its own"), ToolResult("unknown", "x")]
                yield msgspec.structs.replace(delta, results=done, cost_usd=1.5)
            else:
                yield delta


async def unreachable(args: dict[str, Any], context: ToolContext) -> ToolOutput:
    raise AssertionError("a call was run twice")


def test_a_call_with_a_result_is_shown_and_not_run_again() -> None:
    host, model = RecordingHost(), Busy([[Text("look"), call("Run")], [Text("done")]])
    s = session(model, host, [tool("Run", unreachable)])
    ended = asyncio.run(run_turn(s, PROMPT))
    (shown,) = host.of(ToolFinished)
    assert (shown.call, shown.result) == (call("Run"), ToolResult("call-1", "its own"))
    assert (ended.result, ended.subtype) == ("done", "success")
    assert [m.blocks for m in s.messages[1:]] == [
        [Text("look"), call("Run")],
        [ToolResult("call-1", "its own")],
        [Text("done")],
    ]


def test_calls_without_a_result_are_left_to_forge() -> None:
    host, model = RecordingHost(), Busy([[call("Run"), call("Echo", "call-2", text="x")], [Text("done")]])
    tools = [tool("Run", unreachable), tool("Echo", echo)]
    s = session(model, host, tools)
    asyncio.run(run_turn(s, PROMPT))
    assert s.messages[2].blocks == [ToolResult("call-1", "its own"), ToolResult("call-2", "echo x")]


def test_the_cost_a_provider_names_counts_instead_of_the_price() -> None:
    host, model = RecordingHost(), Busy([[call("Run")], [Text("done")]])
    s = session(model, host, [tool("Run", unreachable)])
    asyncio.run(run_turn(s, PROMPT))
    assert s.ledger.cost == pytest.approx(1.5 + model.card.cost(Usage(input=10, output=5)))


async def permission_for(s: Session, wanted: ToolUse) -> Permission:
    return await workplace(s).permit(wanted)


class Before:
    """Hooks that say one thing before every call."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        return self._outcome if event == "PreToolUse" else NOTHING


@pytest.mark.parametrize(
    ("facts", "answers", "permission"),
    [
        ({}, [], Permission(True, {"text": "x"})),
        ({"rules": []}, [Allow({"text": "y"})], Permission(True, {"text": "y"})),
        ({"rules": []}, [Refuse("not now")], Permission(False, {"text": "x"}, "not now")),
        (
            {"hooks": Before(Outcome("deny", "because"))},
            [],
            Permission(False, {"text": "x"}, "PreToolUse:Run hook error: because"),
        ),
        ({"hooks": Before(Outcome(updated_input={"text": "z"}))}, [], Permission(True, {"text": "z"})),
    ],
    ids=["rule allows", "user allows", "user refuses", "hook denies", "hook changes"],
)
def test_a_call_it_wants_to_run_is_permitted_like_all_others(
    facts: dict[str, Any], answers: list[Any], permission: Permission
) -> None:
    host = RecordingHost(*answers)
    s = session(ScriptedModel([]), host, [tool("Run", unreachable)], **facts)
    s.turn = Turn(0.0, {})
    found = asyncio.run(permission_for(s, call("Run", text="x")))
    assert found == permission
    assert [denial.tool_use_id for denial in s.turn.denials] == ([] if found.allowed else ["call-1"])


def test_a_tool_that_is_not_offered_is_refused() -> None:
    s = session(ScriptedModel([]), RecordingHost(), [])
    place = workplace(s)
    assert (place.cwd, place.folders) == ("/project", ["/project"])
    found = asyncio.run(permission_for(s, call("Run")))
    assert found == Permission(False, {}, "The tool Run is not offered in this session.")
