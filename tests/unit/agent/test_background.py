from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.background import Background
from forge.agent.drive import Patience, drive
from forge.agent.event import JobEnded, JobsChanged, JobStarted, TurnEnded
from forge.agent.session import Prompt, Session
from forge.core.job import Job, JobEnd, JobView

DONE = JobEnd("completed", 'Command "a & b" completed')


class Work:
    """A job that ends when it is told to, and knows whether it was cancelled."""

    def __init__(self, **facts: Any) -> None:
        self.end: asyncio.Future[JobEnd] = asyncio.get_running_loop().create_future()
        self.cancelled = False
        self.tell: Callable[[str], None] | None = None
        given = {"output_path": "/tmp/out/b1.output", "tool_use_id": "call-1", **facts}
        self.job = Job("b1", "local_bash", "a & b", self.run, **given)

    async def run(self) -> JobEnd:
        try:
            return await self.end
        except asyncio.CancelledError:
            self.cancelled = True
            raise

    def listen(self, tell: Callable[[str], None]) -> None:
        self.tell = tell


def setup() -> tuple[Session, RecordingHost, Background]:
    host = RecordingHost()
    s = session(ScriptedModel([]), host, [])
    return s, host, s.keep(Background)


def test_the_end_of_a_job_is_told_to_host_and_model() -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        work = Work()
        jobs.begin(s, work.job)
        work.end.set_result(DONE)
        await s.woken.wait()
        view = JobView("b1", "local_bash", "running", "a & b", output_path="/tmp/out/b1.output")
        assert host.events == [
            JobsChanged([view]),
            JobStarted(work.job),
            JobEnded(work.job, DONE),
            JobsChanged([]),
        ]
        [prompt] = s.pending
        assert prompt.origin == {
            "kind": "task-notification",
            "producer": "session-task",
            "runId": "run-b1",
        }
        assert prompt.verbatim
        assert prompt.text.endswith(
            "\n\n<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>call-1</tool-use-id>\n"
            "<output-file>/tmp/out/b1.output</output-file>\n<status>completed</status>\n"
            '<summary>Command "a &amp; b" completed</summary>\n</task-notification>\n</system-reminder>'
        )

    asyncio.run(scenario())


def test_events_of_a_job_wake_the_model() -> None:
    async def scenario() -> None:
        s, _, jobs = setup()
        work = Work()
        jobs.begin(s, msgspec.structs.replace(work.job, listen=work.listen))
        assert work.tell is not None
        work.tell("1 < 2")
        [prompt] = s.pending
        assert prompt.origin == {"kind": "task-notification", "producer": "session-task"}
        assert "<event>1 &lt; 2</event>\n</task-notification>" in prompt.text
        await jobs.close()

    asyncio.run(scenario())


def test_a_quiet_end_does_not_wake_the_model() -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        work = Work()
        jobs.begin(s, work.job)
        work.end.set_result(JobEnd("stopped", "known", quiet=True))
        await jobs.close()
        assert (s.pending, len(host.of(JobEnded))) == ([], 1)

    asyncio.run(scenario())


@pytest.mark.parametrize("way", ["stop", "close"])
def test_a_job_stopped_right_after_its_start_has_seen_it(way: str) -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        work = Work()
        jobs.begin(s, work.job)
        if way == "stop":
            assert jobs.stop("b1")
        await jobs.close()
        assert work.cancelled
        assert [e.end for e in host.of(JobEnded)] == [JobEnd("stopped", "a & b", quiet=True)]
        assert (s.pending, jobs.stop("b1"), jobs.running()) == ([], False, [])

    asyncio.run(scenario())


def test_what_a_job_writes_may_be_read() -> None:
    async def scenario() -> None:
        s, _, jobs = setup()
        jobs.begin(s, Work().job)
        await jobs.close()
        assert s.situation.free_read_dirs == ["/tmp/out"]

    asyncio.run(scenario())


def test_a_job_that_a_call_waits_for_is_no_background_job() -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        work = Work(backgrounded=False)
        jobs.begin(s, work.job)
        assert jobs.views() == []
        await asyncio.sleep(0)
        work.end.set_result(DONE)
        await asyncio.sleep(0)
        assert host.events == [JobStarted(work.job), JobEnded(work.job, DONE)]
        assert s.pending == []

    asyncio.run(scenario())


def test_a_job_that_is_left_alone_goes_on_under_its_name() -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        waited, alone = Work(backgrounded=False), Work()
        jobs.begin(s, waited.job)
        jobs.begin(s, alone.job)
        alone.end.set_result(DONE)
        await s.woken.wait()
        started = [(e.job.backgrounded, e.moved) for e in host.of(JobStarted)]
        assert started == [(False, False), (True, True)]
        assert [e.job for e in host.of(JobEnded)] == [alone.job]
        await jobs.close()

    asyncio.run(scenario())


def test_calls_can_be_told_not_to_wait_for_their_jobs() -> None:
    async def scenario() -> None:
        s, _, jobs = setup()
        told: list[str] = []
        work = Work(backgrounded=False, leave=lambda: told.append("leave"), kill=lambda: told.append("kill"))
        jobs.begin(s, work.job)
        assert [jobs.leave("call-2"), jobs.leave("call-1"), jobs.leave(), jobs.stop("b1")] == [
            False,
            True,
            True,
            True,
        ]
        work.end.set_result(DONE)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (told, jobs.leave(), jobs.stop("b1")) == (["leave", "leave", "kill"], False, False)

    asyncio.run(scenario())


def test_jobs_that_outlast_our_patience_are_stopped() -> None:
    async def scenario() -> None:
        s, _, jobs = setup()
        work = Work()
        jobs.begin(s, work.job)
        ended = await drive(s, Prompt("go", "prompt-1"), Patience(others=0.01))
        assert (ended.subtype, work.cancelled, jobs.running()) == ("success", True, [])

    asyncio.run(scenario())


def test_an_interrupt_ends_the_wait_for_jobs_at_once() -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        work = Work()
        jobs.begin(s, work.job)
        driven = asyncio.ensure_future(drive(s, Prompt("go", "prompt-1"), Patience()))
        while not host.of(TurnEnded) or not s.interrupt():
            await asyncio.sleep(0)
        async with asyncio.timeout(5):
            ended = await driven
        assert (ended.subtype, work.cancelled, jobs.running()) == ("success", True, [])

    asyncio.run(scenario())


def test_an_end_that_is_no_news_ends_the_wait_too() -> None:
    async def scenario() -> None:
        s, host, jobs = setup()
        work = Work()
        jobs.begin(s, work.job)
        driven = asyncio.ensure_future(drive(s, Prompt("go", "prompt-1"), Patience()))
        while not host.of(TurnEnded):
            await asyncio.sleep(0)
        jobs.stop("b1")
        async with asyncio.timeout(5):
            ended = await driven
        assert (ended.subtype, work.cancelled, len(host.of(TurnEnded))) == ("success", True, 1)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("jobs", "seconds"),
    [
        ([], 0.0),
        ([{"kind": "cron"}], 0.0),
        ([{"kind": "local_bash"}, {"kind": "cron"}], 7260.0),
        ([{"kind": "local_bash"}, {"kind": "local_agent", "holds": True}], 600.0),
    ],
)
def test_commands_are_waited_for_as_long_as_they_may_take(jobs: list[dict[str, Any]], seconds: float) -> None:
    async def scenario() -> float:
        s, _, background = setup()
        for number, kind in enumerate(jobs):
            background.begin(s, msgspec.structs.replace(Work().job, id=f"b{number}", **kind))
        wait = Patience().with_jobs(background)
        await background.close()
        return wait

    assert asyncio.run(scenario()) == seconds


def test_a_job_that_crashes_ends_as_failed() -> None:
    async def crash() -> JobEnd:
        raise ZeroDivisionError

    async def main() -> list[str]:
        s = session(ScriptedModel([]), RecordingHost(), [])
        jobs = s.keep(Background)
        jobs.begin(s, Job("b1", "local_bash", "boom", crash))
        async with asyncio.timeout(5):
            await s.woken.wait()
        return [view.status for view in jobs.views()]

    assert asyncio.run(main()) == ["failed"]
