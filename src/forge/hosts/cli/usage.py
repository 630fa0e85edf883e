"""`forge usage`: what the recorded sessions have used and cost, per day, model and session."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from forge.foundation.errors import UsageError
from forge.foundation.ids import timestamp
from forge.foundation.paths import find_places, projects_dir, slug
from forge.foundation.sessions import project_folders, summary, transcripts
from forge.foundation.spending import Amount, Spent, read_spending
from forge.hosts.cli.command import JSON, NO_COLOR, Arguments, Command, read_arguments, take_words
from forge.hosts.cli.flags import SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.cli.sessions_place import money, number, print_json

COMMAND = Command(
    name="usage",
    usage=("usage [--days N] [--here]",),
    about=(
        "Adds up what recorded sessions have used and cost, sub-agents included. Days are those of UTC. "
        "Costs are computed from the prices of the models; what a provider bills may differ."
    ),
    flags=(
        Flag(
            "--days", VALUE, "number", "only the last days, today included (else everything)", check="number"
        ),
        Flag("--here", SWITCH, "", "only sessions of this directory"),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge usage", "everything there is"),
        ("forge usage --days 7 --json", "the last week, for a script"),
    ),
)

_MOST_SESSIONS = 20


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Prints the totals."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    take_words(COMMAND, given.words, ())
    places = find_places(env, os.getcwd())
    projects = projects_dir(places)
    folders = [os.path.join(projects, slug(places.cwd))] if given.on("here") else project_folders(projects)
    paths = {path: None for folder in folders for path in transcripts(folder)}
    rows = _recent(read_spending(list(paths)), given, time.time())
    titles = {os.path.basename(path).removesuffix(".jsonl"): path for path in paths}
    if given.on("json"):
        print_json(_as_json(rows, titles))
        return 0
    _print(open_screen(env, plain=given.on("no_color")), rows, titles)
    return 0


def _recent(rows: list[Spent], given: Arguments, now: float) -> list[Spent]:
    if not given.text("days"):
        return rows
    days = number(given, "days", 0)
    if days < 1:
        raise UsageError("--days must be at least 1.")
    first = timestamp(now - (days - 1) * 86400)[:10]
    return [row for row in rows if row.day >= first]


def _sums(rows: list[Spent], key: Callable[[Spent], str]) -> dict[str, Amount]:
    sums: dict[str, Amount] = {}
    for row in rows:
        sums[key(row)] = sums.get(key(row), Amount()) + row.amount
    return sums


def _total(rows: list[Spent]) -> Amount:
    return _sums(rows, lambda row: "").get("", Amount())


def _print(screen: Screen, rows: list[Spent], titles: dict[str, str]) -> None:
    if not rows:
        screen.line("Nothing has been used.")
        return
    days = sorted(_sums(rows, lambda r: r.day).items(), reverse=True)
    models = sorted(_sums(rows, lambda r: r.model).items(), key=lambda item: -item[1].cost)
    sessions = sorted(_sums(rows, lambda r: r.session).items(), key=lambda item: -item[1].cost)
    named = [(f"{name[:8]} {_title(screen, titles[name])}", amount) for name, amount in sessions]
    for heading, table in (("Day", days), ("Model", models), ("Session", named[:_MOST_SESSIONS])):
        head = (heading, "cost", "input", "output", "cached")
        screen.table([head, *(_cells(name or "unknown", amount) for name, amount in table)], indent=0)
        screen.line()
    if len(named) > _MOST_SESSIONS:
        screen.line(f"... and {len(named) - _MOST_SESSIONS} more sessions (--json has all)", "dim")
    screen.line(f"Total {money(_total(rows).cost)} in {len(sessions)} sessions", "bold")


def _cells(name: str, amount: Amount) -> tuple[str, ...]:
    cached = amount.cache_read + amount.cache_write
    return (name, money(amount.cost), f"{amount.input:,}", f"{amount.output:,}", f"{cached:,}")


def _title(screen: Screen, path: str) -> str:
    row = summary(path)
    return screen.clip(row.title if row is not None else "", 52)


def _as_json(rows: list[Spent], titles: dict[str, str]) -> dict[str, Any]:
    def listed(name: str, key: Callable[[Spent], str]) -> list[dict[str, Any]]:
        return [{name: value, **_raw(amount)} for value, amount in sorted(_sums(rows, key).items())]

    sessions = listed("sessionId", lambda r: r.session)
    for entry in sessions:
        row = summary(titles[entry["sessionId"]])
        entry |= {"title": row.title if row else None, "cwd": row.cwd if row else None}
    return {
        "total": _raw(_total(rows)),
        "days": listed("day", lambda r: r.day),
        "models": listed("model", lambda r: r.model),
        "sessions": sessions,
    }


def _raw(amount: Amount) -> dict[str, Any]:
    raw: dict[str, Any] = msgspec.to_builtins(amount)
    return {
        "costUSD": round(raw["cost"], 10),
        "inputTokens": raw["input"],
        "outputTokens": raw["output"],
        "cacheReadInputTokens": raw["cache_read"],
        "cacheCreationInputTokens": raw["cache_write"],
    }
