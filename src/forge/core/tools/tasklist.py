"""TaskList: the session's tasks, one line each."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.tool import Action, ToolContext, ToolOutput
from forge.core.tools.tasks import Task, folder, load, open_blockers


class Args(msgspec.Struct, frozen=True):
    pass


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Lists all tasks."""
    tasks = load(folder(ctx))
    shown = [_row(task, tasks) for task in tasks.values()]
    lines = [_line(row) for row in shown]
    return ToolOutput("\n".join(lines) or "No tasks found", {"tasks": shown})


def _row(task: Task, tasks: dict[str, Task]) -> dict[str, Any]:
    owner = {"owner": task.owner} if isinstance(task.owner, str) else {}
    facts = {"id": task.id, "subject": task.subject, "status": task.status}
    return {**facts, **owner, "blockedBy": open_blockers(task, tasks)}


def _line(row: dict[str, Any]) -> str:
    owner = f" ({row['owner']})" if row.get("owner") else ""
    blockers = ", ".join(f"#{n}" for n in row["blockedBy"])
    waiting = f" [blocked by {blockers}]" if blockers else ""
    return f"#{row['id']} [{row['status']}] {row['subject']}{owner}{waiting}"


ACTION: Action[Args] = Action(Args, run)
