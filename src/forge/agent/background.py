"""The jobs of a session: started by tools, ended on their own or by the user, reported to the model."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

from forge.agent.event import JobEnded, JobsChanged, JobStarted
from forge.agent.session import Prompt, Session
from forge.agent.texts.load import text
from forge.core.job import Job, JobEnd, JobView, run_id
from forge.core.reminder import reminder

log = logging.getLogger("forge.jobs")

# The kinds of jobs that only wait for their time, and what the reference calls the waking.
SCHEDULED, WAKEUP = ("cron", "wakeup"), "schedule_wakeup"


class Background:
    """Runs jobs as tasks of the session's event loop. Every end becomes a prompt that wakes the session."""

    def __init__(self) -> None:
        self._views: dict[str, JobView] = {}
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._attended: dict[str, asyncio.Task[None]] = {}
        self._stopped_by: dict[str, str] = {}
        # Those a call waits for, by id.
        self.waited: dict[str, Job] = {}

    def begin(self, s: Session, job: Job) -> None:
        """Starts a job and tells the host; one that a call has waited for is begun again to be left alone."""
        if not job.backgrounded:
            s.emit(JobStarted(job))
            self.waited[job.id] = job
            self._attended[job.id] = asyncio.ensure_future(self._attend(s, job))
            return
        moved = self.waited.pop(job.id, None) is not None
        if (waiting := self._attended.pop(job.id, None)) is not None:
            waiting.cancel()
        _let_read(s, job)
        self._jobs[job.id] = job
        self._views[job.id] = _view(job, "running")
        if job.kind not in SCHEDULED:
            s.emit(JobsChanged(self._shown()))
            s.emit(JobStarted(job, moved=moved))
        if job.listen is not None:
            job.listen(lambda words: s.wake(event_notice(s, job, words)))
        self._tasks[job.id] = asyncio.ensure_future(self._watch(s, job))

    def views(self) -> list[JobView]:
        """All jobs of the session."""
        return list(self._views.values())

    def running(self) -> list[JobView]:
        """The jobs that have not ended."""
        return [self._views[job_id] for job_id in self._jobs]

    def _shown(self) -> list[JobView]:
        """The running jobs hosts hear of: a plan for later is no work yet."""
        return [view for view in self.running() if view.kind not in SCHEDULED]

    def holding(self) -> bool:
        """Whether a running job keeps the turn's result back."""
        return any(job.holds for job in self._jobs.values())

    def stop(self, job_id: str, by: str = "user") -> bool:
        """Stops a running job; `by` is parent for the model, system for what the user did not name."""
        task, waited = self._tasks.get(job_id), self.waited.get(job_id)
        if waited is not None and waited.kill is not None:
            waited.kill()
            return True
        if task is None or task.done():
            return False
        self._stopped_by.setdefault(job_id, by)
        # A task cancelled before its first step would never know of the work it has to end.
        asyncio.get_running_loop().call_soon(task.cancel)
        return True

    def leave(self, tool_use_id: str = "") -> bool:
        """Calls no longer wait for their jobs, all or the one named; whether there was any."""
        found = [job for job in self.waited.values() if tool_use_id in ("", job.tool_use_id)]
        for leave in [job.leave for job in found if job.leave is not None]:
            leave()
        return bool(found)

    def stop_agents(self) -> None:
        """Stops the sub-agents, which is no news for the model: an interrupt reaches all of them."""
        for job in list(self._jobs.values()):
            if job.kind == "local_agent":
                self.stop(job.id, "system")

    def stopper(self, job_id: str) -> str:
        """Who has stopped a job."""
        return self._stopped_by.get(job_id, "user")

    async def close(self) -> None:
        """Stops everything that still runs and waits until it is gone."""
        tasks = [t for t in (*self._tasks.values(), *self._attended.values()) if not t.done()]
        if not tasks:
            return
        try:
            await asyncio.sleep(0)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _attend(self, s: Session, job: Job) -> None:
        end = await job.run()
        self._attended.pop(job.id, None)
        self.waited.pop(job.id, None)
        s.emit(JobEnded(job, end))

    async def _watch(self, s: Session, job: Job) -> None:
        try:
            end = await job.run()
        except asyncio.CancelledError:
            end = _stopped(job, quiet=self.stopper(job.id) == "system")
        except Exception:  # a job is a tool call that takes longer: it must end, whatever happens to it
            log.exception("job %s failed", job.id)
            end = JobEnd("failed", f"{job.description} failed unexpectedly; see the debug log.")
        # What an ended job has gathered is of no use any more, only its name is.
        del self._jobs[job.id], self._tasks[job.id]
        self._views[job.id] = _view(job, end.status)
        if job.kind not in SCHEDULED:
            s.emit(JobEnded(job, end))
            s.emit(JobsChanged(self._shown()))
        # When the money is spent nobody can be told any more.
        if not end.quiet and not s.over_budget():
            s.wake(due(s, end) if job.kind in SCHEDULED else notice(s, job, end))
        # Whoever waits for jobs looks again, also after an end that is no news.
        s.woken.set()


def _let_read(s: Session, job: Job) -> None:
    """What a job writes may be read without asking."""
    place = os.path.dirname(job.output_path)
    free = s.situation.free_read_dirs
    if place and place not in free:
        s.situation = s.situation.changed(free_read_dirs=[*free, place])


def _stopped(job: Job, *, quiet: bool) -> JobEnd:
    """Whoever stops a command knows it; what an agent has done until then is news."""
    if job.kind == "local_agent":
        return JobEnd("stopped", f'Agent "{job.description}" was stopped', quiet=quiet)
    return JobEnd("stopped", job.description, quiet=True)


def due(s: Session, end: JobEnd) -> Prompt:
    """A prompt that was written down for this moment; it is what it would be if it were typed now."""
    facts = {"promptSource": "system", "turnOrigin": "scheduled", "wakeupSource": WAKEUP, **end.facts}
    return Prompt(end.result, s.parts.new_id(), verbatim=True, record={"isMeta": True, **facts})


def notice(s: Session, job: Job, end: JobEnd) -> Prompt:
    """The news that a job has ended, as the model reads it."""
    tags = {"task-id": job.id, "tool-use-id": job.tool_use_id, "output-file": job.output_path}
    tags |= {"status": "killed" if end.status == "stopped" else end.status, "summary": _escaped(end.summary)}
    tags |= {"result": end.result, "usage": _figures(end.usage or {})}
    return _news(s, {**tags, **end.facts}, run_id(job.id))


def event_notice(s: Session, job: Job, words: str) -> Prompt:
    """The news of an event of a job that goes on, as the model reads it."""
    summary = f'Monitor event: "{job.description}"'
    return _news(s, {"task-id": job.id, "summary": _escaped(summary), "event": _escaped(words)}, "")


def _news(s: Session, tags: dict[str, str], run: str) -> Prompt:
    body = "".join(f"<{tag}>{value}</{tag}>\n" for tag, value in tags.items() if value)
    words = f"{text('job_news')}\n\n<task-notification>\n{body}</task-notification>"
    origin = {"kind": "task-notification", "producer": "session-task"}
    if run:
        origin["runId"] = run
    news = reminder(words)
    return Prompt(news, s.parts.new_id(), verbatim=True, origin=origin)


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _figures(usage: dict[str, Any]) -> str:
    named = {"subagent_tokens" if k == "total_tokens" else k: v for k, v in usage.items()}
    return "".join(f"<{k}>{v}</{k}>" for k, v in named.items())


def _view(job: Job, status: str) -> JobView:
    return JobView(job.id, job.kind, status, job.description, job.command, job.agent_type, job.output_path)
