from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.core.schedule import Cron, at_clock, in_words, next_run, parse_cron

NOW = datetime(2026, 11, 15, 23, 41, 30)  # a Sunday


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("* * * * *", datetime(2026, 11, 15, 23, 42)),
        ("*/5 * * * *", datetime(2026, 11, 15, 23, 45)),
        ("41 23 * * *", datetime(2026, 11, 16, 23, 41)),
        ("30 14 28 2 *", datetime(2027, 2, 28, 14, 30)),
        ("0 9 * * 1-5", datetime(2026, 11, 16, 9, 0)),
        ("0 9 * * mon-fri", datetime(2026, 11, 16, 9, 0)),
        ("0 9 * jan MON", datetime(2027, 1, 4, 9, 0)),
        ("0 0 * * 7", datetime(2026, 11, 22)),
        ("0,30 8-10/2 1 1 7", datetime(2027, 1, 1, 8, 0)),
        ("5/20 * * * *", datetime(2026, 11, 15, 23, 45)),
        ("0 0 15 */2 *", datetime(2027, 1, 15)),
    ],
)
def test_the_next_run_is_the_first_matching_minute(text: str, moment: datetime) -> None:
    cron = parse_cron(text)
    assert cron is not None
    assert next_run(cron, NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        *(
            "bad",
            "@daily",
            "",
            "* * * *",
            "* * * * * *",
            "61 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
        ),
        *(
            "* * * * 8",
            "5-1 * * * *",
            "*/0 * * * *",
            "1,,2 * * * *",
            "-1 * * * *",
            "a-b * * * *",
            "mon * * * *",
        ),
        *("1- * * * *", "* * * * ²", "1/ * * * *"),
    ],
)
def test_what_is_no_cron_expression_is_not_read(text: str) -> None:
    assert parse_cron(text) is None


def test_a_date_that_does_not_come_is_never() -> None:
    cron = parse_cron("0 0 31 2 *")
    assert cron is not None
    assert next_run(cron, NOW) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("7 * * * *", "Every hour at :07"),
        ("0 * * * *", "Every hour"),
        ("0 */2 * * *", "Every 2 hours"),
        ("15 10 * * *", "Every day at 10:15 AM"),
        ("0 0 * * *", "Every day at 12:00 AM"),
        ("5 12 * * *", "Every day at 12:05 PM"),
        ("15 10 * * 3", "Every Wednesday at 10:15 AM"),
        ("0 9 * * 1-5", "Weekdays at 9:00 AM"),
        ("15 10 3 * *", "15 10 3 * *"),
        ("0,30 8-10/2 1 1 7", "0,30 8-10/2 1 1 7"),
        ("1,2 * * * *", "1,2 * * * *"),
        ("0 9 * * 1,2", "0 9 * * 1,2"),
    ],
)
def test_common_schedules_have_words(text: str, words: str) -> None:
    assert in_words(text) == words


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2026, 11, 15, 23, 47), "Nov 15 11:47pm"),
        (datetime(2026, 11, 16, 0, 12), "Nov 16 12:12am"),
        (datetime(2027, 1, 1, 12, 0), "Jan 1 12:00pm"),
    ],
)
def test_moments_are_shown_by_the_clock(moment: datetime, words: str) -> None:
    assert at_clock(moment) == words


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda p: f"{min(p)}-{max(p)}")
    step = st.tuples(st.one_of(st.just("*"), span), st.integers(1, 5)).map(lambda p: f"{p[0]}/{p[1]}")
    part = st.one_of(st.just("*"), number.map(str), span, step)
    return st.lists(part, min_size=1, max_size=3).map(",".join)


EXPRESSIONS = st.tuples(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7)).map(" ".join)
MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1))


def matches(cron: Cron, moment: datetime) -> bool:
    return cron.on(moment.date()) and moment.hour in cron.hours and moment.minute in cron.minutes


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS, MOMENTS)
def test_the_next_run_matches_and_is_later(text: str, after: datetime) -> None:
    cron = parse_cron(text)
    assert cron is not None
    moment = next_run(cron, after)
    assert moment is not None
    assert matches(cron, moment)
    assert after < moment <= after + timedelta(days=367)


@settings(max_examples=30, deadline=None)
@given(field(0, 59), MOMENTS)
def test_no_matching_minute_is_left_out(minutes: str, after: datetime) -> None:
    cron = parse_cron(f"{minutes} * * * *")
    assert cron is not None
    moment = next_run(cron, after)
    assert moment is not None
    start = after.replace(second=0, microsecond=0)
    between = [start + timedelta(minutes=n) for n in range(1, 61)]
    assert [m for m in between if matches(cron, m) and m < moment] == []
