from __future__ import annotations

from pathlib import Path

from forge.core.message import Message, ToolResult, ToolUse
from forge.core.tools.todowrite import ACTION, Todo, TodoList
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


def test_the_list_of_an_earlier_conversation_comes_back() -> None:
    def said(name: str, content: str, **result: bool) -> list[Message]:
        todos = [{"content": content, "status": "pending", "activeForm": "x"}]
        answer = ToolResult(name, "ok", **result)
        return [
            Message("assistant", [ToolUse(name, "TodoWrite", {"todos": todos})]),
            Message("user", [answer]),
        ]

    broken = Message("assistant", [ToolUse("3", "TodoWrite", {"todos": 7})])
    kept = TodoList()
    kept.recall([*said("1", "old"), *said("2", "new"), broken, *said("4", "refused", is_error=True)])
    assert kept.todos == [Todo("new", "pending", "x")]
    assert kept.after_compaction() == "The to-do list (TodoWrite) as it stands:\n- [pending] new"
    fresh = TodoList()
    fresh.recall([])
    assert (fresh.todos, fresh.after_compaction()) == ([], "")
