from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.shelf import Shelf
from forge.core.tools.builtin import builtin_tools
from forge.core.tools.toolsearch import ACTION
from unit.core.tools.context import RecordingContext, call

NAMES = "CronCreate CronDelete NotebookEdit Read TaskCreate TaskGet TaskList TaskUpdate WebFetch WebSearch"
TOOLS = [tool for tool in builtin_tools() if tool.name in NAMES.split()]
TASKS = ["TaskList", "TaskCreate", "TaskGet", "TaskUpdate"]


@pytest.mark.parametrize(
    ("query", "limit", "names"),
    [
        ("select:NotebookEdit,TaskList", 5, ["NotebookEdit", "TaskList"]),
        ("select:taskget, TaskGet", 5, ["TaskGet"]),
        ("select:NotebookEdit,Nope", 5, ["NotebookEdit"]),
        ("select:Read", 5, ["Read"]),
        ("TaskUpdate", 5, ["TaskUpdate"]),
        ("notebook jupyter", 5, ["NotebookEdit"]),
        ("+task list", 5, TASKS),
        ("+task list", 2, TASKS[:2]),
        ("web", 5, ["WebFetch", "WebSearch"]),
        ("cron", 1, ["CronCreate"]),
    ],
)
def test_tools_are_found_and_loaded(tmp_path: Path, query: str, limit: int, names: list[str]) -> None:
    ctx = RecordingContext(tmp_path)
    shelf = ctx.keep(Shelf)
    shelf.tools = lambda: TOOLS
    output = call(ACTION, ctx, query=query, max_results=limit)
    assert output.content == [{"type": "tool_reference", "tool_name": name} for name in names]
    assert shelf.loaded == set(names)
    total = sum(tool.deferred for tool in TOOLS)
    assert output.data == {"matches": names, "query": query, "total_deferred_tools": total}


@pytest.mark.parametrize("query", ["select:Nope", "zzzqqq", "+zzz list", "", "+"])
def test_nothing_found_loads_nothing(tmp_path: Path, query: str) -> None:
    ctx = RecordingContext(tmp_path)
    ctx.keep(Shelf).tools = lambda: TOOLS
    assert call(ACTION, ctx, query=query, max_results=5).content == "No matching deferred tools found"
    assert ctx.keep(Shelf).loaded == set()
