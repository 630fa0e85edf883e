from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.loop import run_turn
from forge.agent.planning import mode_news, plan_words, prepare_plan
from forge.agent.session import Prompt, Session
from forge.agent.team.crew import Seat
from forge.core.message import Message, Text
from forge.core.plan import Plan
from forge.core.tools.builtin import builtin_tools

BUILTIN = {t.name: t for t in builtin_tools()}
ON, OVER = "Plan mode is on", "Plan mode is over"


def planner(
    place: Path, turns: list[Any], tools: list[Any], mode: str = "default"
) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel(turns)
    s = session(model, RecordingHost(), tools, cwd=str(place))
    s.parts = msgspec.structs.replace(s.parts, env={"HOME": str(place)})
    s.situation = s.situation.changed(mode=mode)
    prepare_plan(s)
    return s, model


def heard(message: Message) -> list[str]:
    """The news about plan mode and the typed words of a user message."""
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    return [next((words for words in (ON, OVER) if words in text), text) for text in texts]


def test_the_model_hears_once_that_plan_mode_is_on_and_once_that_it_is_over(tmp_path: Path) -> None:
    s, model = planner(tmp_path, [[Text(str(n))] for n in range(6)], [BUILTIN["ExitPlanMode"]])

    async def talk() -> None:
        for prompt, mode in zip("abcdef", ("", "plan", "", "acceptEdits", "", "plan"), strict=True):
            if mode:
                s.set_mode(mode)
            await run_turn(s, Prompt(prompt, prompt))

    asyncio.run(talk())
    assert [heard(request.messages[-1]) for request in model.requests] == [
        ["a"],
        [ON, "b"],
        ["c"],
        [OVER, "d"],
        ["e"],
        [ON, "f"],
    ]


def test_a_change_of_mode_during_a_turn_is_told_with_the_next_request(tmp_path: Path) -> None:
    async def switch(args: Any, ctx: Any) -> Any:
        s.set_mode("plan")
        return await echo(args, ctx)

    switching = tool("Switch", switch)
    s, model = planner(tmp_path, [[call("Switch", text="x")], [Text("ok")]], [switching])
    asyncio.run(run_turn(s, Prompt("go", "p")))
    assert [heard(request.messages[-1]) for request in model.requests] == [["go"], [ON]]


def test_the_tools_for_planning_say_themselves_what_changes(tmp_path: Path) -> None:
    tools = [BUILTIN["EnterPlanMode"], BUILTIN["ExitPlanMode"]]
    turns = [[call("EnterPlanMode", "1")], [call("ExitPlanMode", "2")], [Text("ok")], [Text("ok")]]
    s, model = planner(tmp_path, turns, tools, mode="default")
    s.situation = s.situation.changed(rules=[])

    async def talk() -> None:
        await run_turn(s, Prompt("a", "a"))
        await run_turn(s, Prompt("b", "b"))

    asyncio.run(talk())
    assert [heard(request.messages[-1]) for request in model.requests] == [["a"], [], [], ["b"]]


def test_plan_mode_is_explained_with_the_place_of_the_plan(tmp_path: Path) -> None:
    s, _ = planner(tmp_path, [], [BUILTIN["ExitPlanMode"]], mode="plan")
    (reminder,) = mode_news(s)
    assert (s.keep(Plan).mode(), reminder.kind) == ("plan", "plan_mode")
    assert f"Write the plan to {tmp_path}/.claude/plans/" in reminder.text
    assert s.situation.plan_file.startswith(f"{tmp_path}/.claude/plans/")


@pytest.mark.parametrize(("tools", "asks"), [([], False), ([BUILTIN["ExitPlanMode"]], True)])
def test_where_nobody_can_approve_the_model_is_not_sent_to_ask(
    tmp_path: Path, tools: list[Any], asks: bool
) -> None:
    s, _ = planner(tmp_path, [], tools, mode="plan")
    assert ("ExitPlanMode" in plan_words(s)) is asks


def test_what_plan_mode_means_is_said_again_after_a_compaction(tmp_path: Path) -> None:
    s, _ = planner(tmp_path, [], [], mode="plan")
    first, second = mode_news(s), mode_news(s)
    s.keep(Plan).after_compaction()
    assert (len(first), second, mode_news(s)) == (1, [], first)


def test_sub_agents_hear_nothing_of_plan_mode(tmp_path: Path) -> None:
    s, _ = planner(tmp_path, [], [], mode="plan")
    s.share(Seat(1, "a1"))
    assert mode_news(s) == []
