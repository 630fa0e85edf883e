"""What a running tool may know and change of its session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from forge.agent.background import Background
from forge.agent.event import ToolProgress
from forge.agent.session import Session
from forge.core.job import Job, JobView
from forge.core.message import ToolUse
from forge.core.tool import FileStamp
from forge.foundation.permissions.decide import readable

T = TypeVar("T")

MAX_RESULT_CHARS = 400_000
_PREVIEW_CHARS = 2_000


class CallContext:
    """The `ToolContext` of one call."""

    def __init__(self, session: Session, call: ToolUse) -> None:
        self.session = session
        self._call = call
        self.went: list[str] = []

    @property
    def call(self) -> ToolUse:
        return self._call

    @property
    def cwd(self) -> str:
        return self.session.situation.cwd

    @property
    def start_dir(self) -> str:
        return self.session.situation.start_dir

    @property
    def directories(self) -> list[str]:
        return self.session.situation.directories

    @property
    def env(self) -> Mapping[str, str]:
        env, added = self.session.parts.env, self.session.parts.catalog.bin_dirs
        # Programs of plugins come last: they never take the place of others.
        return {**env, "PATH": os.pathsep.join([env.get("PATH", ""), *added])} if added else env

    @property
    def session_id(self) -> str:
        return self.session.id

    @property
    def call_id(self) -> str:
        return self._call.id

    @property
    def results_dir(self) -> str:
        return self.session.parts.results_dir

    @property
    def seen(self) -> dict[str, FileStamp]:
        return self.session.seen

    @property
    def setting(self) -> Callable[[str, Any], Any]:
        return self.session.parts.setting

    def change_directory(self, path: str) -> None:
        self.went.append(path)
        self.session.situation = self.session.situation.changed(cwd=path)
        self.session.recorder.cwd = path

    def readable(self, path: str) -> bool:
        return readable(path, self.session.situation)

    def progress(self, text: str) -> None:
        self.session.emit(ToolProgress(self._call, text))

    def keep(self, kind: type[T]) -> T:
        return self.session.keep(kind)

    def set_mode(self, mode: str) -> None:
        self.session.set_mode(mode)

    def begin(self, job: Job) -> None:
        if not job.tool_use_id:
            job = msgspec.structs.replace(job, tool_use_id=self._call.id)
        self.session.keep(Background).begin(self.session, job)

    def jobs(self) -> list[JobView]:
        return self.session.keep(Background).views()

    def stop_job(self, job_id: str) -> bool:
        return self.session.keep(Background).stop(job_id, "parent")

    def bounded(self, content: str) -> str:
        """The text, or its beginning and the file that holds all of it when it is too large for a message."""
        if len(content) <= MAX_RESULT_CHARS:
            return content
        path = os.path.join(self.results_dir, f"{self._call.id}.txt")
        try:
            os.makedirs(self.results_dir, mode=0o700, exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(content)
        except OSError as error:
            where = f"it could not be saved: {error.strerror}"
        else:
            where = f"Full output saved to: {path}"
        size = len(content) / 1024
        head = content[:_PREVIEW_CHARS]
        return (
            f"<persisted-output>\nOutput too large ({size:.1f}KB). {where}\n\n"
            f"Preview (first 2KB):\n{head}\n...\n</persisted-output>"
        )
