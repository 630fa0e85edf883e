from __future__ import annotations

from pathlib import Path

from forge.core.tools.todowrite import ACTION
from unit.core.tools.context import RecordingContext, call


def test_the_list_is_replaced_and_a_finished_one_is_forgotten(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    first = [
        {"content": "a", "status": "pending", "activeForm": "aing"},
        {"content": "b", "status": "in_progress", "activeForm": "bing"},
    ]
    done = [{**todo, "status": "completed"} for todo in first]
    outputs = [call(ACTION, ctx, todos=todos) for todos in (first, done, [])]
    assert [output.data for output in outputs] == [
        {"oldTodos": [], "newTodos": first},
        {"oldTodos": first, "newTodos": done},
        {"oldTodos": [], "newTodos": []},
    ]
    assert {str(output.content) for output in outputs} == {
        "Todos have been modified successfully. Ensure that you continue to use the todo list to track your "
        "progress. Please proceed with the current tasks if applicable"
    }
