from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from forge.core.agenda import Agenda
from forge.core.tools import croncreate, crondelete, cronlist, schedulewakeup
from unit.core.tools.context import RecordingContext, call, failure

NOW = datetime(2026, 11, 15, 23, 41, 30).timestamp()
WAKE = {"delaySeconds": 90, "reason": "why", "prompt": "look"}
THEN = (
    "If you owe the user a status update this tick, write it now as ordinary response text; then end the "
    "turn — the harness re-invokes you when the wakeup fires or a task-notification arrives."
)


@pytest.fixture
def ctx(tmp_path: Path) -> RecordingContext:
    numbers = count(1)
    context = RecordingContext(tmp_path)
    context.kept[Agenda] = Agenda(now=lambda: NOW, new_id=lambda: f"id{next(numbers)}")
    return context


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"cron": "*/5 * * * *"},
            "Scheduled recurring job id1 (Every 5 minutes). Next run: Nov 15 11:45pm. Session-only (not "
            "written to disk, dies when Claude exits). Auto-expires after 7 days. Use CronDelete to cancel "
            "sooner.",
        ),
        (
            {"cron": "30 14 28 2 *", "recurring": False},
            "Scheduled one-shot task id1 (30 14 28 2 *). Next run: Feb 28 2:30pm. Session-only (not written "
            "to disk, dies when Claude exits). It will fire once then auto-delete.",
        ),
        (
            {"cron": "0 9 * * 1-5", "durable": True},
            "Scheduled recurring job id1 (Weekdays at 9:00 AM). Next run: Nov 16 9:00am. Session-only (not "
            "written to disk, dies when Claude exits) (durable is not supported yet: it was not saved). "
            "Auto-expires after 7 days. Use CronDelete to cancel sooner.",
        ),
    ],
    ids=["recurring", "once", "durable"],
)
def test_a_prompt_is_scheduled(ctx: RecordingContext, given: dict[str, Any], words: str) -> None:
    assert call(croncreate.ACTION, ctx, prompt="p", **given).content == words
    assert [job.kind for job in ctx.begun] == ["cron"]


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("bad", "Invalid cron expression 'bad'. Expected 5 fields: M H DoM Mon DoW."),
        ("0 0 31 2 *", "Cron expression '0 0 31 2 *' does not match any calendar date in the next year."),
    ],
)
def test_what_never_comes_is_refused(ctx: RecordingContext, cron: str, words: str) -> None:
    assert failure(croncreate.ACTION, ctx, cron=cron, prompt="p") == ("refused", words)


def test_there_is_a_limit(ctx: RecordingContext) -> None:
    for _ in range(croncreate.MAX_ENTRIES):
        call(croncreate.ACTION, ctx, cron="* * * * *", prompt="p")
    kind, words = failure(croncreate.ACTION, ctx, cron="* * * * *", prompt="p")
    assert (kind, "CronDelete" in words) == ("refused", True)


def test_what_is_scheduled_is_listed_until_it_is_cancelled(ctx: RecordingContext) -> None:
    assert call(cronlist.ACTION, ctx).content == "No scheduled jobs."
    call(croncreate.ACTION, ctx, cron="*/5 * * * *", prompt="p1")
    call(croncreate.ACTION, ctx, cron="0 9 16 11 *", prompt="x" * 100, recurring=False)
    listed = call(cronlist.ACTION, ctx)
    assert listed.content == (
        "id1 — Every 5 minutes (recurring) [session-only], next run Nov 15 11:45pm: p1\n"
        f"id2 — 0 9 16 11 * (one-shot) [session-only], next run Nov 16 9:00am: {'x' * 79}…"
    )
    assert listed.data["jobs"][0] == {
        "id": "id1",
        "cron": "*/5 * * * *",
        "humanSchedule": "Every 5 minutes",
        "prompt": "p1",
        "recurring": True,
        "durable": False,
        "nextFireAt": int(datetime(2026, 11, 15, 23, 45).timestamp() * 1000),
    }
    assert call(crondelete.ACTION, ctx, id="id1").content == "Cancelled job id1."
    assert failure(crondelete.ACTION, ctx, id="id1") == ("refused", "No scheduled job with id 'id1'")
    assert [job.id for job in ctx.begun] == ["id2"]


@pytest.mark.parametrize(
    ("delay", "words"),
    [
        (90, "Next wakeup scheduled for 23:43:00 (in 90s)."),
        (5, "Next wakeup scheduled for 23:43:00 (in 90s) (clamped to 60s from your requested value)."),
        (9e9, "Next wakeup scheduled for 00:42:00 (in 3630s) (clamped to 3600s from your requested value)."),
    ],
)
def test_a_wakeup_comes_after_a_minute_to_an_hour(ctx: RecordingContext, delay: float, words: str) -> None:
    assert call(schedulewakeup.ACTION, ctx, **{**WAKE, "delaySeconds": delay}).content == f"{words} {THEN}"


def test_there_is_one_wakeup_and_it_can_be_cancelled(ctx: RecordingContext) -> None:
    call(schedulewakeup.ACTION, ctx, **WAKE)
    call(schedulewakeup.ACTION, ctx, **WAKE)
    assert [job.id for job in ctx.begun] == ["id2"]
    assert call(cronlist.ACTION, ctx).content == "No scheduled jobs."
    stopped = [call(schedulewakeup.ACTION, ctx, stop=True) for _ in range(2)]
    assert [str(output.content).partition(" — ")[2][:30] for output in stopped] == [
        "cancelled 1 pending wakeup(s);",
        "any dynamic loop in this sessi",
    ]
    assert [output.data["cancelledWakeups"] for output in stopped] == [1, 0]
    assert ctx.begun == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "`delaySeconds` and `reason` are required when `stop` is not true."),
        ({"noop": True}, "`delaySeconds` and `reason` are required when `stop` is not true."),
        (
            {"delaySeconds": 90, "prompt": "x"},
            "`delaySeconds` and `reason` are required when `stop` is not true.",
        ),
        ({"delaySeconds": 90, "reason": "a"}, "`prompt` is required when `stop` is not true."),
    ],
)
def test_a_wakeup_needs_a_time_a_reason_and_a_prompt(
    ctx: RecordingContext, given: dict[str, Any], words: str
) -> None:
    assert failure(schedulewakeup.ACTION, ctx, **given) == ("failed", words)
