from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import CARD, RecordingHost, ScriptedModel, Turn, allow, call, echo, session, tool
from forge.agent.asides.beside import MARK, REST
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.core.message import Aside, Text
from forge.core.tools.tasks import Task, create
from forge.core.tools.todowrite import Todo, TodoList

ECHO = call("Echo", text="x")
END: Turn = [Text("end")]


def build(turns: list[Any], *lists: str, asides: bool = False, env: dict[str, str] | None = None) -> Session:
    """A session whose model gives these replies, with these tools for lists."""
    model = ScriptedModel(turns)
    model.card = msgspec.structs.replace(CARD, asides=asides)
    tools = [tool("Echo", echo), *(tool(name, echo) for name in lists)]
    s = session(model, RecordingHost(), tools, rules=allow("Echo", *lists))
    s.parts = msgspec.structs.replace(s.parts, env=env or {})
    return s


def play(s: Session, *prompts: str) -> list[tuple[int, str]]:
    """What the model was reminded of, and after how many of its replies."""
    for prompt in prompts or ("go",):
        asyncio.run(run_turn(s, Prompt(prompt, f"prompt-{prompt}")))
    told = [(n // 2, b) for n, m in enumerate(s.messages) for b in m.blocks if isinstance(b, Aside)]
    return [(n, aside.text) for n, aside in told if aside.text.startswith(MARK)]


def change(name: str) -> Turn:
    return [call(name, text="x")]


@pytest.mark.requirement("S1-56")
@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([[ECHO]] * (REST - 1), []),
        ([[ECHO]] * (2 * REST), [REST, 2 * REST]),
        ([[Text("so"), ECHO]] * REST, [REST // 2, REST]),
        ([change("TaskUpdate"), *[[ECHO]] * REST], [REST + 1]),
        ([[ECHO]] * 5 + [change("TaskCreate")] + [[ECHO]] * (REST - 1), []),
    ],
)
def test_a_model_that_lets_its_list_rest_is_reminded_with_results(turns: list[Any], told: list[int]) -> None:
    s = build([*turns, END], "TaskCreate", "TaskUpdate")
    assert [n for n, _ in play(s)] == told
    # It costs no request.
    assert len(s.messages) == 2 * len(turns) + 2


@pytest.mark.parametrize(("lists", "asides"), [((), False), (("TaskList",), False), (("TaskUpdate",), True)])
def test_nobody_is_reminded_of_a_list_it_cannot_or_need_not_keep(
    lists: tuple[str, ...], asides: bool
) -> None:
    assert play(build([[ECHO]] * REST, *lists, asides=asides)) == []


@pytest.mark.requirement("S1-56")
def test_the_reminder_names_what_is_open(home: Path) -> None:
    create(str(home / ".claude/tasks/session-1"), Task(id="", subject="fix it", description="d"))
    ((_, words),) = play(build([[ECHO]] * REST, "TaskUpdate", env={"HOME": str(home)}))
    assert words.endswith("\n\nThe list as it stands:\n\n#1 [pending] fix it")


def test_a_prompt_brings_the_reminder_too_and_the_older_list_is_named() -> None:
    s = build([*[[ECHO]] * (REST - 1), END], "TodoWrite")
    s.keep(TodoList).put([Todo("fix it", "in_progress", "fixing it")])
    ((after, words),) = play(s, "go", "on")
    assert (after, words.rpartition("\n")[2]) == (REST, "1. [in_progress] fix it")
