"""TaskUpdate: changes or deletes a task of the session's list."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from forge.core.tool import Action, ToolContext, ToolOutput
from forge.core.tools.tasks import Task, TaskWatch, folder, load, remove, save

_PLAIN = {"subject": "subject", "description": "description", "active_form": "activeForm", "owner": "owner"}


class Args(msgspec.Struct, frozen=True):
    task_id: str = msgspec.field(name="taskId")
    subject: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    active_form: str | UnsetType = msgspec.field(default=UNSET, name="activeForm")
    status: str | UnsetType = UNSET
    add_blocks: list[str] = msgspec.field(default_factory=list, name="addBlocks")
    add_blocked_by: list[str] = msgspec.field(default_factory=list, name="addBlockedBy")
    owner: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Applies the change; a number without task is no error."""
    place = folder(ctx)
    tasks = load(place)
    task = tasks.get(args.task_id)
    if task is None:
        facts = {"success": False, "taskId": args.task_id, "updatedFields": [], "error": "Task not found"}
        return ToolOutput("Task not found", facts)
    if args.status == "deleted":
        remove(place, tasks, task.id)
        return _report(task.id, ["deleted"], (task.status, "deleted"))
    changed, fields = _changed(task, args)
    completes = changed.status == "completed" != task.status
    if completes and (objection := await ctx.keep(TaskWatch).objection("TaskCompleted", changed)):
        return ToolOutput(objection, {"success": False, "taskId": task.id, "updatedFields": []})
    if changed != task:
        tasks[task.id] = changed
        save(place, changed)
    fields += _link(place, tasks, changed.id, args)
    return _report(task.id, fields, (task.status, changed.status))


def _changed(task: Task, args: Args) -> tuple[Task, list[str]]:
    """The task with its new words and state, and the names of what is new."""
    new: dict[str, Any] = {}
    for field in _PLAIN:
        value = getattr(args, field)
        if value is not UNSET and value != getattr(task, field):
            new[field] = value
    fields = [_PLAIN[field] for field in new]
    if isinstance(args.metadata, dict):
        old = task.metadata if isinstance(task.metadata, dict) else {}
        kept = {key: value for key, value in {**old, **args.metadata}.items() if value is not None}
        new["metadata"] = kept
        fields.append("metadata")
    if isinstance(args.status, str) and args.status != task.status:
        new["status"] = args.status
        fields.append("status")
    return msgspec.structs.replace(task, **new), fields


def _link(place: str, tasks: dict[str, Task], own: str, args: Args) -> list[str]:
    """Records who waits for whom on both sides; numbers without task are passed over."""
    pairs = [(own, later) for later in args.add_blocks] + [(first, own) for first in args.add_blocked_by]
    for first, later in pairs:
        if first not in tasks or later not in tasks:
            continue
        if later not in tasks[first].blocks:
            blocks = [*tasks[first].blocks, later]
            tasks[first] = msgspec.structs.replace(tasks[first], blocks=blocks)
            save(place, tasks[first])
        if first not in tasks[later].blocked_by:
            waits = [*tasks[later].blocked_by, first]
            tasks[later] = msgspec.structs.replace(tasks[later], blocked_by=waits)
            save(place, tasks[later])
    return ["blocks"] * bool(args.add_blocks) + ["blockedBy"] * bool(args.add_blocked_by)


def _report(number: str, fields: list[str], status: tuple[str, str]) -> ToolOutput:
    facts: dict[str, Any] = {"success": True, "taskId": number, "updatedFields": fields}
    if status[0] != status[1]:
        facts["statusChange"] = {"from": status[0], "to": status[1]}
    return ToolOutput(f"Updated task #{number} {', '.join(fields)}", facts)


ACTION: Action[Args] = Action(Args, run)
