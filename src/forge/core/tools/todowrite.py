"""TodoWrite: the older, flat to-do list; the model sends it whole."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from forge.core.message import Message, ToolResult
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

    def put(self, todos: list[Todo]) -> None:
        """Replaces the list; one that is all done is empty from then on."""
        self.todos = [] if all(todo.status == "completed" for todo in todos) else todos

    def begin_anew(self) -> None:
        """Another conversation has nothing to do yet."""
        self.todos = []

    def after_compaction(self) -> str:
        """What the model must not forget of it."""
        lines = [f"- [{todo.status}] {todo.content}" for todo in self.todos]
        return "\n".join(["The to-do list (TodoWrite) as it stands:", *lines]) if lines else ""

    def recall(self, messages: list[Message]) -> None:
        """Takes over the list as it was at the end of an earlier conversation."""
        calls = [call for message in reversed(messages) for call in reversed(message.calls)]
        results = [b for m in messages for b in m.blocks if isinstance(b, ToolResult)]
        failed = {result.tool_use_id for result in results if result.is_error}
        for call in calls:
            if call.name == "TodoWrite" and call.id not in failed:
                with suppress(msgspec.ValidationError):
                    self.put(msgspec.convert(call.input, Args).todos)
                    return


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Replaces the list."""
    kept = ctx.keep(TodoList)
    data = {"oldTodos": msgspec.to_builtins(kept.todos), "newTodos": msgspec.to_builtins(args.todos)}
    kept.put(args.todos)
    return ToolOutput(_DONE, data)


ACTION: Action[Args] = Action(Args, run)
