"""Work that goes on while the conversation does: background commands, sub-agents, monitors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec


class JobEnd(msgspec.Struct, frozen=True):
    """How a job ended: `status` is completed, failed or stopped; `result` is what the model should read."""

    status: str
    summary: str
    result: str = ""
    usage: dict[str, Any] | None = None


class Job(msgspec.Struct, frozen=True):
    """A job that has been started. `run` ends with the work and is cancelled to stop it.

    `kind` is local_bash, local_agent or monitor. A job that `holds` keeps the turn's result back until it has
    ended and the model has heard of it. `prompt`, `depth` and `parent_id` belong to sub-agents; one that is not
    `backgrounded` is waited for by the call that started it.
    """

    id: str
    kind: str
    description: str
    run: Callable[[], Awaitable[JobEnd]]
    tool_use_id: str = ""
    output_path: str = ""
    command: str = ""
    agent_type: str = ""
    holds: bool = False
    prompt: str = ""
    depth: int = 0
    parent_id: str = ""
    backgrounded: bool = True


class JobView(msgspec.Struct, frozen=True):
    """A job as others see it."""

    id: str
    kind: str
    status: str
    description: str
    command: str = ""
    agent_type: str = ""
    output_path: str = ""
