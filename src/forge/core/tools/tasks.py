"""The task list of a session: one JSON file per task in a directory that the reference CLI shares.

Every call reads the directory anew, so a resumed or shortened conversation and sub-agents see the same list.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from forge.core.tool import ToolContext, ToolError
from forge.core.tools.location import system_error
from forge.core.tools.store import write_atomically
from forge.foundation.paths import find_places

_MARK = ".highwatermark"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task as its file holds it."""

    id: str
    subject: str
    description: str
    active_form: str | UnsetType = msgspec.field(default=UNSET, name="activeForm")
    owner: str | UnsetType = UNSET
    status: str = "pending"
    blocks: list[str] = []
    blocked_by: list[str] = msgspec.field(default_factory=list, name="blockedBy")
    metadata: dict[str, Any] | UnsetType = UNSET


class TaskWatch:
    """Who may object to a change; the agent sets `object_to(event, task)`, which answers with the reason.

    Events are TaskCreated and TaskCompleted; an empty answer is no objection.
    """

    def __init__(self) -> None:
        self.object_to: Callable[[str, Task], Awaitable[str]] | None = None

    async def objection(self, event: str, task: Task) -> str:
        return await self.object_to(event, task) if self.object_to is not None else ""


def folder(ctx: ToolContext) -> str:
    """Where the tasks of the session are."""
    return os.path.join(find_places(ctx.env, ctx.start_dir).claude_dir, "tasks", ctx.session_id)


def load(place: str) -> dict[str, Task]:
    """All tasks in the order of their numbers; files that are not tasks are passed over."""
    tasks: dict[str, Task] = {}
    for number in _numbers(place):
        with contextlib.suppress(OSError, msgspec.MsgspecError), open(_path(place, number), "rb") as file:
            tasks[str(number)] = msgspec.json.decode(file.read(), type=Task)
    return tasks


def create(place: str, task: Task) -> Task:
    """Stores a new task under the next free number; a number is never used twice."""
    number = max([0, _mark(place), *_numbers(place)]) + 1
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
        while not _claimed(place, number):
            number += 1
    except OSError as error:
        raise system_error(error, "mkdir", place) from None
    task = msgspec.structs.replace(task, id=str(number))
    save(place, task)
    return task


def save(place: str, task: Task) -> None:
    """Writes a task to its file."""
    path = os.path.join(place, f"{task.id}.json")
    try:
        write_atomically(path, msgspec.json.format(msgspec.json.encode(task), indent=2))
    except OSError as error:
        raise system_error(error, "open", path) from None


def remove(place: str, tasks: dict[str, Task], gone: str) -> None:
    """Deletes a task and every mention of it."""
    if int(gone) > _mark(place):
        write_atomically(os.path.join(place, _MARK), gone.encode())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(place, int(gone)))
    for task in tasks.values():
        if task.id != gone and gone in (*task.blocks, *task.blocked_by):
            left = [n for n in task.blocks if n != gone]
            waits = [n for n in task.blocked_by if n != gone]
            save(place, msgspec.structs.replace(task, blocks=left, blocked_by=waits))


def open_blockers(task: Task, tasks: dict[str, Task]) -> list[str]:
    """The unfinished tasks this one waits for."""
    return [n for n in task.blocked_by if n in tasks and tasks[n].status != "completed"]


def unfinished(ctx: ToolContext) -> list[Task]:
    """What is still to be done, for whoever shortens the conversation."""
    return [task for task in load(folder(ctx)).values() if task.status != "completed"]


def _numbers(place: str) -> list[int]:
    try:
        names = os.listdir(place)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ToolError(f"The task list cannot be read: {error.strerror}: {place}") from None
    stems = [name.removesuffix(".json") for name in names if name.endswith(".json")]
    return sorted(int(stem) for stem in stems if stem.isascii() and stem.isdigit())


def _claimed(place: str, number: int) -> bool:
    """Takes a number for good, also against another process."""
    try:
        os.close(os.open(_path(place, number), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def _mark(place: str) -> int:
    try:
        with open(os.path.join(place, _MARK), encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _path(place: str, number: int) -> str:
    return os.path.join(place, f"{number}.json")
