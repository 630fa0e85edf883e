"""A tool context that lives in a temporary directory and remembers what tools did to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from forge.core.job import Job, JobView
from forge.core.tool import Action, FileStamp, ToolError, ToolOutput

T = TypeVar("T")


class RecordingContext:
    def __init__(self, directory: object, env: dict[str, str] | None = None) -> None:
        self.start_dir = self.cwd = str(directory)
        self.directories = [self.start_dir]
        self.env = {"PATH": os.environ["PATH"], "HOME": f"{directory}/home", **(env or {})}
        self.session_id = "session-1"
        self.call_id = "call-1"
        self.results_dir = os.path.join(self.start_dir, "results")
        self.seen: dict[str, FileStamp] = {}
        self.hidden: tuple[str, ...] = ()
        self.settings: dict[str, Any] = {}
        self.reports: list[str] = []
        self.kept: dict[type, object] = {}
        self.begun: list[Job] = []
        self.mode = "default"

    @property
    def setting(self) -> Callable[[str, Any], Any]:
        return self.settings.get

    def change_directory(self, path: str) -> None:
        self.cwd = path

    def readable(self, path: str) -> bool:
        return not path.startswith(self.hidden) if self.hidden else True

    def progress(self, text: str) -> None:
        self.reports.append(text)

    def keep(self, kind: type[T]) -> T:
        kept = self.kept.setdefault(kind, kind())
        assert isinstance(kept, kind)
        return kept

    def set_mode(self, mode: str) -> None:
        self.mode = mode

    def begin(self, job: Job) -> None:
        self.begun.append(job)

    def jobs(self) -> list[JobView]:
        return [JobView(j.id, j.kind, "running", j.description, j.command) for j in self.begun]

    def stop_job(self, job_id: str) -> bool:
        stopped = [j for j in self.begun if j.id == job_id]
        self.begun = [j for j in self.begun if j.id != job_id]
        return bool(stopped)


class Refused(Exception):
    """The check of a tool said no; what the pipeline wraps as a tool use error."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(error.message)
        self.message, self.data = error.message, error.data


async def calling(action: Action[Any], ctx: RecordingContext, **given: Any) -> ToolOutput:
    args = msgspec.convert(given, action.args)
    if action.check is not None:
        try:
            await action.check(args, ctx)
        except ToolError as error:
            raise Refused(error) from None
    return await action.run(args, ctx)


def call(action: Action[Any], ctx: RecordingContext, **given: Any) -> ToolOutput:
    """What the pipeline does with a call, without hooks and permissions."""
    return asyncio.run(calling(action, ctx, **given))


def failure(action: Action[Any], ctx: RecordingContext, **given: Any) -> tuple[str, str]:
    """How a call fails: `refused` before permissions or `failed` while running, and the text."""
    try:
        output = call(action, ctx, **given)
    except Refused as refused:
        return "refused", refused.message
    except ToolError as error:
        return "failed", error.message
    raise AssertionError(f"the call succeeded: {output}")
