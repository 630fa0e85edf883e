"""The words that remind a model of its task list, with the list as it stands."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.session import Reminder, Session
from forge.agent.texts.load import text
from forge.core.tools.tasks import load
from forge.core.tools.todowrite import TodoList
from forge.foundation.paths import find_places


def task_reminder(s: Session) -> list[Reminder]:
    """The reminder, unless the model has no tool to keep a list with."""
    if s.find_tool("TaskUpdate") is not None:
        place = find_places(s.parts.env, s.situation.start_dir).claude_dir
        tasks = load(os.path.join(place, "tasks", s.id)).values()
        lines = [f"#{task.id} [{task.status}] {task.subject}" for task in tasks]
        return [_reminder("task_reminder", "TaskCreate and TaskUpdate", list(tasks), lines)]
    if s.find_tool("TodoWrite") is not None:
        todos = s.keep(TodoList).todos
        lines = [f"{n}. [{todo.status}] {todo.content}" for n, todo in enumerate(todos, 1)]
        return [_reminder("todo_reminder", "TodoWrite", todos, lines)]
    return []


def _reminder(kind: str, tools: str, entries: list[Any], lines: list[str]) -> Reminder:
    words = text("task_reminder").replace("{tools}", tools)
    if lines:
        words = "\n".join([words, "", "The list as it stands:", "", *lines])
    facts = {"content": msgspec.to_builtins(entries), "itemCount": len(entries)}
    return Reminder(kind, words, facts, aside=True)
