from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.hooks.port import NOTHING, Block, Outcome
from forge.agent.mcp.asking import answer
from forge.agent.mcp.servers import Servers
from forge.core.mcp.port import Question, Reply
from forge.core.tool import ToolError

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
QUESTION = Question("srv", "who", "form", SCHEMA)
OBJECTION = Outcome(blocks=[Block("hook", "no")])
CANCELLED = {"message": 'Elicitation response for server "srv": cancel'}


class Hooks:
    """Answers events from a table and remembers what was fired."""

    def __init__(self, **answers: Outcome) -> None:
        self.answers = answers
        self.fired: list[tuple[str, dict[str, Any]]] = []

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        self.fired.append((event, payload))
        return self.answers.get(event, NOTHING)


def asked(hooks: Hooks, host: Any = None) -> Reply:
    s = session(ScriptedModel([]), RecordingHost(), [], hooks=hooks)
    s.keep(Servers).ask_host = host
    return asyncio.run(answer(s, QUESTION))


@pytest.mark.requirement("S1-119")
def test_without_anybody_to_ask_the_question_is_cancelled_and_all_events_fire() -> None:
    hooks = Hooks()
    assert asked(hooks) == Reply("cancel")
    named = {"mcp_server_name": "srv"}
    assert hooks.fired == [
        ("Elicitation", {**named, "message": "who", "mode": "form", "requested_schema": SCHEMA}),
        ("ElicitationResult", {**named, "mode": "form", "action": "cancel"}),
        ("Notification", {**CANCELLED, "notification_type": "elicitation_response"}),
    ]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(action="accept", content={"a": "1"}), Reply("accept", {"a": "1"})),
        (Outcome(action="decline"), Reply("decline")),
        (OBJECTION, Reply("decline")),
    ],
)
@pytest.mark.requirement("S1-118")
def test_a_hook_answers_before_anybody_else(outcome: Outcome, expected: Reply) -> None:
    hooks = Hooks(Elicitation=outcome)
    assert asked(hooks) == expected
    assert [event for event, _ in hooks.fired] == ["Elicitation"]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (NOTHING, Reply("accept", {"a": "1"})),
        (OBJECTION, Reply("decline")),
        (Outcome(action="accept", content={"a": "2"}), Reply("accept", {"a": "2"})),
    ],
)
def test_a_hook_may_change_the_answer_of_the_host(outcome: Outcome, expected: Reply) -> None:
    requests: list[dict[str, Any]] = []

    async def host(request: dict[str, Any]) -> dict[str, Any]:
        requests.append(request)
        return {"action": "accept", "content": {"a": "1"}}

    assert asked(Hooks(ElicitationResult=outcome), host) == expected
    named = {"subtype": "elicitation", "mcp_server_name": "srv", "message": "who", "mode": "form"}
    assert requests == [{**named, "requested_schema": SCHEMA, "property_order": ["b", "a"]}]


@pytest.mark.parametrize("given", [{}, {"action": "maybe"}, {"action": 1}, ToolError("Stream closed")])
@pytest.mark.requirement("S1-120")
def test_a_host_that_does_not_answer_cancels(given: Any) -> None:
    async def host(request: dict[str, Any]) -> dict[str, Any]:
        if isinstance(given, Exception):
            raise given
        return dict(given)

    assert asked(Hooks(), host) == Reply("cancel")
