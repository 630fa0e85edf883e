"""TodoWrite: the older, flat to-do list; the model sends it whole."""

from __future__ import annotations

import msgspec

from forge.core.tool import Action, ToolContext, ToolOutput

_DONE = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track your "
    "progress. Please proceed with the current tasks if applicable"
)


class Todo(msgspec.Struct, frozen=True):
    content: str
    status: str
    active_form: str = msgspec.field(name="activeForm")


class Args(msgspec.Struct, frozen=True):
    todos: list[Todo]


class TodoList:
    """The list of the session."""

    def __init__(self) -> None:
        self.todos: list[Todo] = []


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Replaces the list; one that is all done is empty from then on."""
    kept = ctx.keep(TodoList)
    data = {"oldTodos": msgspec.to_builtins(kept.todos), "newTodos": msgspec.to_builtins(args.todos)}
    finished = all(todo.status == "completed" for todo in args.todos)
    kept.todos = [] if finished else args.todos
    return ToolOutput(_DONE, data)


ACTION: Action[Args] = Action(Args, run)
