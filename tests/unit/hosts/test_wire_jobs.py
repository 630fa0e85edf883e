from __future__ import annotations

from typing import Any

import pytest

from forge.agent.event import JobEnded, JobsChanged, JobStarted
from forge.core.job import Job, JobEnd, JobView
from forge.hosts import wire_jobs


def system(subtype: str, **fields: Any) -> dict[str, Any]:
    return {"subtype": subtype, **{k: v for k, v in fields.items() if v is not None}}


async def never() -> JobEnd:
    raise AssertionError("nobody runs it")


def job(**facts: Any) -> Job:
    return Job("b1", "local_bash", "make", never, tool_use_id="call-1", **facts)


def named(**fields: Any) -> dict[str, Any]:
    return {"task_id": "b1", "run_id": "run-b1", **fields}


@pytest.mark.parametrize("backgrounded", [True, False])
def test_a_started_job_says_whether_a_call_waits_for_it(backgrounded: bool) -> None:
    record = named(
        subtype="task_started",
        tool_use_id="call-1",
        description="make",
        is_backgrounded=backgrounded,
        task_type="local_bash",
    )
    assert wire_jobs.started(JobStarted(job(backgrounded=backgrounded)), system) == [record]


def test_a_job_that_is_left_alone_is_an_update() -> None:
    record = named(subtype="task_updated", patch={"is_backgrounded": True})
    assert wire_jobs.started(JobStarted(job(), moved=True), system) == [record]


@pytest.mark.parametrize(
    ("status", "patched"), [("completed", "completed"), ("failed", "failed"), ("stopped", "killed")]
)
def test_the_end_of_a_job_is_an_update_and_a_notification(status: str, patched: str) -> None:
    records = wire_jobs.ended(JobEnded(job(output_path="/o"), JobEnd(status, "it ended")), system, 1.5)
    assert records == [
        named(subtype="task_updated", patch={"status": patched, "end_time": 1500}),
        named(
            subtype="task_notification",
            tool_use_id="call-1",
            status=status,
            output_file="/o",
            summary="it ended",
        ),
    ]


def test_the_end_of_a_command_that_was_waited_for_is_only_a_notification() -> None:
    records = wire_jobs.ended(JobEnded(job(backgrounded=False), JobEnd("completed", "make")), system, 1.5)
    assert [r["subtype"] for r in records] == ["task_notification"]
    assert records[0]["output_file"] == ""


def test_the_set_of_jobs_is_complete() -> None:
    view = JobView("b1", "local_bash", "running", "make")
    tasks = [named(task_type="local_bash", description="make")]
    assert wire_jobs.changed(JobsChanged([view]), system) == [
        {"subtype": "background_tasks_changed", "tasks": tasks}
    ]
