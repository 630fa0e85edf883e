"""The jobs of a session: started by tools, ended on their own or by the user, reported to the model."""

from __future__ import annotations

import asyncio

from forge.agent.event import JobEnded, JobsChanged, JobStarted
from forge.agent.session import Prompt, Session
from forge.core.job import Job, JobEnd, JobView


class Background:
    """Runs jobs as tasks of the session's event loop. Every end becomes a prompt that wakes the session."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._status: dict[str, str] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, s: Session, job: Job) -> None:
        """Starts a job and tells the host."""
        self._jobs[job.id] = job
        self._status[job.id] = "running"
        s.emit(JobsChanged(self.running()))
        s.emit(JobStarted(job))
        self._tasks[job.id] = asyncio.ensure_future(self._watch(s, job))

    def views(self) -> list[JobView]:
        """All jobs of the session."""
        return [_view(job, self._status[job.id]) for job in self._jobs.values()]

    def running(self) -> list[JobView]:
        """The jobs that have not ended."""
        return [view for view in self.views() if view.status == "running"]

    def holding(self) -> bool:
        """Whether a running job keeps the turn's result back."""
        return any(job.holds and self._status[job.id] == "running" for job in self._jobs.values())

    def stop(self, job_id: str) -> bool:
        """Stops a running job."""
        task = self._tasks.get(job_id)
        if task is None or task.done():
            return False
        task.cancel()
        return True

    async def close(self) -> None:
        """Stops everything that still runs and waits until it is gone."""
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, s: Session, job: Job) -> None:
        try:
            end = await job.run()
        except asyncio.CancelledError:
            end = JobEnd("stopped", f'"{job.description}" was stopped')
        self._status[job.id] = end.status
        s.emit(JobEnded(job, end))
        s.emit(JobsChanged(self.running()))
        s.wake(notice(s, job, end))


def notice(s: Session, job: Job, end: JobEnd) -> Prompt:
    """The news that a job has ended, as the model reads it."""
    lines = [
        "<task-notification>",
        f"<task-id>{job.id}</task-id>",
        f"<status>{end.status}</status>",
        f"<summary>{end.summary}</summary>",
    ]
    if job.output_path:
        lines.append(f"<output-file>{job.output_path}</output-file>")
    if end.result:
        lines.append(f"<result>{end.result}</result>")
    words = "\n".join([*lines, "</task-notification>"])
    origin = {"kind": "task-notification", "producer": "session-task"}
    text = f"<system-reminder>\n{words}\n</system-reminder>"
    return Prompt(text, s.parts.new_id(), verbatim=True, origin=origin)


def _view(job: Job, status: str) -> JobView:
    return JobView(job.id, job.kind, status, job.description, job.command, job.agent_type, job.output_path)
