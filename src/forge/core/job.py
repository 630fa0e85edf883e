"""Work that goes on while the conversation does: background commands, sub-agents, monitors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec


class JobEnd(msgspec.Struct, frozen=True):
    """How a job ended: `status` is completed, failed or stopped; `result` is what the model should read.

    `facts` are further words for the model by their tags. `quiet`: the model knows already. `error` says why
    a sub-agent failed.
    """

    status: str
    summary: str
    result: str = ""
    usage: dict[str, Any] | None = None
    facts: dict[str, str] = {}
    quiet: bool = False
    error: str = ""


class Job(msgspec.Struct, frozen=True):
    """A job that has been started. `run` ends with the work and is cancelled to stop it.

    `kind` is local_bash, local_agent, cron or wakeup. A job that `holds` keeps the turn's result back until
    it has ended and the model has heard of it. `prompt`, `depth` and `parent_id` belong to sub-agents; one
    that is not `backgrounded` is waited for by the call that started it. `listen` is given a function that
    tells the model of an event while the job goes on. The call that waits for a job goes on without it after
    `leave`, and after `kill`, which ends the job.
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
    listen: Callable[[Callable[[str], None]], None] | None = None
    leave: Callable[[], None] | None = None
    kill: Callable[[], None] | None = None


class JobView(msgspec.Struct, frozen=True):
    """A job as others see it."""

    id: str
    kind: str
    status: str
    description: str
    command: str = ""
    agent_type: str = ""
    output_path: str = ""


def run_id(job_id: str) -> str:
    """The name of a job's run on the wire."""
    return f"run-{job_id}"


def background_allowed(env: Mapping[str, str]) -> bool:
    """Whether anything may go on in the background at all."""
    return env.get("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "").lower() not in ("1", "true", "yes", "on")
