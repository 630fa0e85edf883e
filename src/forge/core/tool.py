"""A tool is a value: schema, prose and a loader of its code (an optional check and one async function).

A tool cannot ask, cannot see hooks and does not decide about permissions; all of that happens in the agent's
pipeline. What it needs of the session it gets as a `ToolContext`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from forge.core.job import Job, JobView
from forge.core.message import Block
from forge.foundation.origin import BUILTIN, Origin

A = TypeVar("A")
T = TypeVar("T")


class ToolError(Exception):
    """The tool could not do it; the text goes to the model as a failed result.

    `data` is the structured form for hosts; without it they get `Error: <text>`.
    """

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class ToolOutput(msgspec.Struct, frozen=True):
    """What a tool returns: `content` for the model, `data` (structured) for hosts and hooks.

    `is_error` is None when the result carries no such field on the wire. `note` is a text for the model
    behind all results of the message.
    """

    content: str | list[Block]
    data: Any = None
    is_error: bool | None = None
    note: str = ""


class FileStamp(msgspec.Struct, frozen=True):
    """State of a file when the model last saw it. `partial`: only a range was read."""

    mtime_ns: int
    size: int
    digest: str
    partial: bool = False


class ToolContext(Protocol):
    """What a running tool may know and change."""

    @property
    def cwd(self) -> str: ...

    @property
    def start_dir(self) -> str:
        """The directory the session was started in."""
        ...

    @property
    def directories(self) -> list[str]:
        """All working directories, the start directory first."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """Environment for child processes."""
        ...

    @property
    def session_id(self) -> str: ...

    @property
    def call_id(self) -> str:
        """The id of the call that runs."""
        ...

    @property
    def results_dir(self) -> str:
        """Where outputs too large for the model are kept; created on demand."""
        ...

    @property
    def seen(self) -> dict[str, FileStamp]:
        """Files the model has read or written, by absolute path."""
        ...

    @property
    def setting(self) -> Callable[[str, Any], Any]:
        """Reads a merged settings key: `ctx.setting("bashOutputMaxChars", 30000)`."""
        ...

    def change_directory(self, path: str) -> None:
        """Makes `path` the current directory of later calls."""
        ...

    def readable(self, path: str) -> bool:
        """Whether permission rules let the model see this file (search tools hide the others)."""
        ...

    def progress(self, text: str) -> None:
        """Tells the host what is going on; may be called often."""
        ...

    def keep(self, kind: type[T]) -> T:
        """The session's one object of this kind (a task list, a plan …), made on first use."""
        ...

    def set_mode(self, mode: str) -> None:
        """Changes the permission mode of the session."""
        ...

    def begin(self, job: Job) -> None:
        """Starts work that goes on after this call; the model is told when it ends."""
        ...

    def jobs(self) -> list[JobView]:
        """The jobs of the session, running and ended."""
        ...

    def stop_job(self, job_id: str) -> bool:
        """Stops a running job; false if there is none of that id."""
        ...


class Action(msgspec.Struct, Generic[A], frozen=True):
    """The code of a tool. `args` is a struct the validated input is converted to.

    `check` runs before hooks and permissions and raises `ToolError` for input that can never work;
    `prepare` then makes the input that hooks and the user see.
    """

    args: type[A]
    run: Callable[[A, ToolContext], Awaitable[ToolOutput]]
    check: Callable[[A, ToolContext], Awaitable[None]] | None = None
    prepare: Callable[[dict[str, Any], ToolContext], dict[str, Any]] | None = None


class Remote(msgspec.Struct, frozen=True):
    """The MCP server a tool belongs to, where that is configured, and the tool's own name and title there."""

    server: str
    source: str
    tool: str
    title: str = ""


class Tool(msgspec.Struct, frozen=True):
    """A tool as the registry holds it; its code is imported by `load` on the first call.

    `alone`: must not run beside other calls of the same message. `validates`: checks its input itself.
    `needs_host`: makes sense only where somebody can answer. `deferred`: its schema is sent when asked for.
    """

    name: str
    description: str
    schema: dict[str, Any]
    load: Callable[[], Action[Any]]
    origin: Origin = BUILTIN
    read_only: bool = False
    alone: bool = False
    validates: bool = False
    aliases: tuple[str, ...] = ()
    needs_host: bool = False
    deferred: bool = False
    remote: Remote | None = None
