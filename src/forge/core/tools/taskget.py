"""TaskGet: one task of the session's list with everything about it."""

from __future__ import annotations

import msgspec

from forge.core.tool import Action, ToolContext, ToolOutput
from forge.core.tools.tasks import folder, load


class Args(msgspec.Struct, frozen=True):
    task_id: str = msgspec.field(name="taskId")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Shows the task; a number without task is no error."""
    task = load(folder(ctx)).get(args.task_id)
    if task is None:
        return ToolOutput("Task not found", {"task": None})
    lines = [f"Task #{task.id}: {task.subject}", f"Status: {task.status}", f"Description: {task.description}"]
    if task.blocked_by:
        lines.append(f"Blocked by: {_numbered(task.blocked_by)}")
    if task.blocks:
        lines.append(f"Blocks: {_numbered(task.blocks)}")
    shown = {
        "id": task.id,
        "subject": task.subject,
        "description": task.description,
        "status": task.status,
        "blocks": task.blocks,
        "blockedBy": task.blocked_by,
    }
    return ToolOutput("\n".join(lines), {"task": shown})


def _numbered(ids: list[str]) -> str:
    return ", ".join(f"#{n}" for n in ids)


ACTION: Action[Args] = Action(Args, run)
