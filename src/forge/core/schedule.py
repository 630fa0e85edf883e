"""When a cron expression is due: parsing, the next run and words for people. Pure functions of local time."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import msgspec

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LOOKAHEAD = 366

# lowest and highest value, and what the names count from
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: n for n, name in enumerate(_MONTHS, 1)}),
    (0, 7, {name: n for n, name in enumerate(_DAYS)}),
)


class Cron(msgspec.Struct, frozen=True):
    """The values each field allows. With both day fields restricted, one of them has to match."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool = False
    any_weekday: bool = False

    def on(self, day: date) -> bool:
        """Whether it is due at some time of this day."""
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week


def parse_cron(text: str) -> Cron | None:
    """Reads five fields; None if they are not a cron expression."""
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return None
    values = [_values(field, *limits) for field, limits in zip(fields, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = values
    if minutes is None or hours is None or days is None or months is None or weekdays is None:
        return None
    weekdays = frozenset(n % 7 for n in weekdays)
    return Cron(minutes, hours, days, months, weekdays, fields[2][0] == "*", fields[4][0] == "*")


def next_run(cron: Cron, after: datetime) -> datetime | None:
    """The first minute later than `after` that matches, within a year."""
    earliest = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    for ahead in range(_LOOKAHEAD + 1):
        day = earliest.date() + timedelta(days=ahead)
        if not cron.on(day):
            continue
        for hour in sorted(cron.hours):
            for minute in sorted(cron.minutes):
                moment = datetime(day.year, day.month, day.day, hour, minute)
                if moment >= earliest:
                    return moment
    return None


def in_words(text: str) -> str:
    """The common schedules in words, others as they are."""
    minute, hour, day, month, weekday = text.split()
    if (day, month) != ("*", "*"):
        return text
    if hour == "*" and weekday == "*":
        return _within_hour(text, minute)
    if minute == "0" and hour.startswith("*/") and weekday == "*":
        return f"Every {hour[2:]} hours"
    if not (minute.isdigit() and hour.isdigit()):
        return text
    clock = f"{int(hour) % 12 or 12}:{int(minute):02d} {'PM' if int(hour) >= 12 else 'AM'}"
    named = {str(n): f"Every {_DAY_NAMES[n % 7]}" for n in range(8)} | {"*": "Every day", "1-5": "Weekdays"}
    return f"{named[weekday]} at {clock}" if weekday in named else text


def at_clock(moment: datetime) -> str:
    """A moment as lists show it: `Nov 15 11:47pm`."""
    half = "pm" if moment.hour >= 12 else "am"
    month = _MONTHS[moment.month - 1].capitalize()
    return f"{month} {moment.day} {moment.hour % 12 or 12}:{moment.minute:02d}{half}"


def _within_hour(text: str, minute: str) -> str:
    if minute in ("*", "*/1"):
        return "Every minute"
    if minute.startswith("*/"):
        return f"Every {minute[2:]} minutes"
    if minute.isdigit():
        return f"Every hour at :{int(minute):02d}" if int(minute) else "Every hour"
    return text


def _values(field: str, low: int, high: int, names: dict[str, int]) -> frozenset[int] | None:
    found: set[int] = set()
    for part in field.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        start = low if span == "*" else _number(first, names)
        end = high if span == "*" or (slash and not dash) else _number(last if dash else first, names)
        width = _number(step, {}) if slash else 1
        if start is None or end is None or not width or not low <= start <= end <= high:
            return None
        found.update(range(start, end + 1, width))
    return frozenset(found)


def _number(text: str, names: dict[str, int]) -> int | None:
    if text.isascii() and text.isdigit():
        return int(text)
    return names.get(text.lower())
