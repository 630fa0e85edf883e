from __future__ import annotations

import asyncio
from datetime import datetime
from itertools import count

from forge.core.agenda import Agenda
from forge.core.job import Job, JobEnd

START = datetime(2026, 11, 15, 12, 0).timestamp()


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = START
        self.naps: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.time += seconds


def agenda() -> tuple[Agenda, Clock, list[Job]]:
    clock, numbers = Clock(), count(1)
    return Agenda(clock.now, clock.sleep, lambda: f"id{next(numbers)}"), clock, []


def due(job: Job) -> JobEnd:
    async def wait() -> JobEnd:
        return await job.run()

    return asyncio.run(wait())


def test_a_prompt_comes_once_at_its_time() -> None:
    plan, clock, begun = agenda()
    plan.add("look", START + 100, begun.append)
    assert [(job.id, job.kind) for job in begun] == [("id1", "wakeup")]
    facts = {"wakeupSource": "loop_wakeup", "scheduledFor": str(int(START + 100) * 1000)}
    assert due(begun[0]) == JobEnd("completed", "The scheduled prompt id1 is due", "look", facts=facts)
    assert clock.naps == [30, 30, 30, 10]
    assert (plan.entries, len(begun)) == ({}, 1)


def test_a_recurring_prompt_waits_for_its_next_time_in_a_new_job() -> None:
    plan, clock, begun = agenda()
    plan.add("tick", START + 60, begun.append, cron="*/10 * * * *", recurring=True)
    due(begun[0])
    due(begun[1])
    assert [job.id for job in begun] == ["id1", "id1-id2", "id1-id3"]
    assert [entry.due - START for entry in plan.crons()] == [1200]
    assert clock.time - START == 600


def test_a_recurring_prompt_ends_after_a_week() -> None:
    plan, clock, begun = agenda()
    plan.add("tick", START + 60, begun.append, cron="* * * * *", recurring=True)
    clock.time += 8 * 24 * 3600
    due(begun[0])
    assert (plan.entries, len(begun)) == ({}, 1)


def test_a_cancelled_prompt_does_not_come_again() -> None:
    plan, _, begun = agenda()
    stopped: list[str] = []

    def stop(job_id: str) -> bool:
        stopped.append(job_id)
        return True

    plan.add("tick", START + 60, begun.append, cron="* * * * *", recurring=True)
    assert plan.drop("id1", stop)
    assert not plan.drop("id1", stop)
    due(begun[0])
    assert (stopped, plan.entries, len(begun)) == (["id1"], {}, 1)
