"""TaskCreate: adds a task to the session's list."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.tasks import Task, TaskWatch, create, folder, load, remove


class Args(msgspec.Struct, frozen=True):
    subject: str
    description: str
    active_form: str | UnsetType = msgspec.field(default=UNSET, name="activeForm")
    metadata: dict[str, Any] | UnsetType = UNSET


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Stores the task unless somebody objects."""
    place = folder(ctx)
    new = Task(
        id="",
        subject=args.subject,
        description=args.description,
        active_form=args.active_form,
        metadata=args.metadata,
    )
    task = create(place, new)
    if objection := await ctx.keep(TaskWatch).objection("TaskCreated", task):
        remove(place, load(place), task.id)
        raise ToolError(objection)
    shown = {"id": task.id, "subject": task.subject, "description": task.description}
    return ToolOutput(f"Task #{task.id} created successfully: {task.subject}", {"task": shown})


ACTION: Action[Args] = Action(Args, run)
