from __future__ import annotations

import asyncio

import pytest

from doubles import RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.hooks.port import Block, Outcome
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.message import Text
from forge.core.tools.tasks import Task, TaskWatch
from unit.agent.hooks.test_sites import Scripted


@pytest.mark.parametrize(
    ("blocks", "objection"),
    [
        ([], ""),
        ([Block("a", "not yet\n")], "TaskCreated hook feedback:\nnot yet"),
        (
            [Block("a", "no"), Block("b", "never")],
            "TaskCreated hook feedback:\nno\nTaskCreated hook feedback:\nnever",
        ),
    ],
)
@pytest.mark.parametrize("name", ["TaskCreate", "TaskUpdate"])
def test_hooks_are_asked_about_a_task_and_can_object(name: str, blocks: list[Block], objection: str) -> None:
    hooks = Scripted(TaskCreated=Outcome(blocks=blocks))
    model = ScriptedModel([[call(name)], [Text("end")]])
    s = session(model, RecordingHost(), [tool(name, echo)], hooks=hooks)
    asyncio.run(run_turn(s, Prompt("go", "p")))
    task = Task(id="7", subject="s", description="d")
    assert asyncio.run(s.keep(TaskWatch).objection("TaskCreated", task)) == objection
    assert hooks.told("TaskCreated") == {"task_id": "7", "task_subject": "s", "task_description": "d"}
