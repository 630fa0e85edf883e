"""`forge usage`: what the recorded sessions have used and cost, per day, model, session and agent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from forge.core.model import ModelCard
from forge.core.models.assemble import read_usage
from forge.core.models.catalog import find_card
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.history.agent_spending import Agent, Price, find_agents, split
from forge.foundation.history.sessions import project_folders, summary, transcripts
from forge.foundation.history.spending import Amount, Spent, read_spending
from forge.foundation.ids import timestamp
from forge.foundation.paths import find_places, projects_dir, slug
from forge.hosts.cli.command import JSON, NO_COLOR, Arguments, Command, print_json, read_arguments, take_words
from forge.hosts.cli.flags import SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.cli.sessions_place import money, number
from forge.hosts.configuration import load_configuration
from forge.hosts.options import read_options

COMMAND = Command(
    name="usage",
    usage=("usage [--days N] [--here]",),
    about=(
        "Adds up what recorded sessions have used and cost, by day, model and session, and how much of it "
        "was the work of which sub-agent. Days are those of UTC. Costs are computed from the prices of the "
        "models; what a provider bills may differ."
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

_MOST_ROWS = 20
MAIN = "main"


class Ledgers(msgspec.Struct, frozen=True):
    """What there is to add up; `paths` and `agents` by id of the session or sub-agent."""

    rows: list[Spent]
    paths: dict[str, str]
    agents: dict[str, Agent]

    def kind(self, row: Spent) -> str:
        """Which kind of agent has used it."""
        return self.agents[row.agent].kind if row.agent else MAIN


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Prints the totals."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    take_words(COMMAND, given.words, ())
    found = _gather(line, env, given)
    if given.on("json"):
        print_json(_as_json(found))
        return 0
    _print(open_screen(env, plain=given.on("no_color")), found)
    return 0


def _gather(line: CommandLine, env: dict[str, str], given: Arguments) -> Ledgers:
    places = find_places(env, os.getcwd())
    projects = projects_dir(places)
    folders = [os.path.join(projects, slug(places.cwd))] if given.on("here") else project_folders(projects)
    paths = list(dict.fromkeys(path for folder in folders for path in transcripts(folder)))
    agents = [agent for path in paths for agent in find_agents(path)]
    rows = read_spending(paths)
    if agents:
        rows = split(rows, agents, _prices(line, env, places.cwd))
    sessions = {os.path.basename(path).removesuffix(".jsonl"): path for path in paths}
    return Ledgers(_recent(rows, given, time.time()), sessions, {agent.id: agent for agent in agents})


def _prices(line: CommandLine, env: dict[str, str], cwd: str) -> Price:
    """Prices replies by the models of the configuration; what they do not know costs nothing."""
    c = load_configuration(read_options(line), env, cwd)
    cards: dict[str, ModelCard | None] = {}

    def price(made_by: str, usage: dict[str, Any]) -> float:
        if made_by not in cards:
            cards[made_by] = _card(made_by, c.env, c.settings.get)
        card = cards[made_by]
        return card.cost(read_usage(usage)) if card is not None else 0.0

    return price


def _card(made_by: str, env: Mapping[str, str], setting: Callable[[str, Any], Any]) -> ModelCard | None:
    try:
        return find_card(made_by, env, setting) if made_by else None
    except ForgeError:
        return None


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


def _dearest(rows: list[Spent], key: Callable[[Spent], str]) -> list[tuple[str, Amount]]:
    return sorted(_sums(rows, key).items(), key=lambda item: -item[1].cost)


def _total(rows: list[Spent]) -> Amount:
    return _sums(rows, lambda row: "").get("", Amount())


def _print(screen: Screen, found: Ledgers) -> None:
    rows = found.rows
    if not rows:
        screen.line("Nothing has been used.")
        return
    sessions = _dearest(rows, lambda r: r.session)
    theirs = [row for row in rows if row.agent]
    tables = {
        "Day": sorted(_sums(rows, lambda r: r.day).items(), reverse=True),
        "Model": _dearest(rows, lambda r: r.model),
        "Session": [(_session(screen, found, name), amount) for name, amount in sessions],
        "Kind of agent": _dearest(rows, found.kind) if theirs else [],
        "Sub-agent": [
            (_agent(screen, found, n), amount) for n, amount in _dearest(theirs, lambda r: r.agent)
        ],
    }
    for heading, table in tables.items():
        _print_table(screen, heading, table)
    count = f"{len(sessions)} session{'s'[: len(sessions) != 1]}"
    screen.line(f"Total {money(_total(rows).cost)} in {count}", "bold")


def _print_table(screen: Screen, heading: str, table: list[tuple[str, Amount]]) -> None:
    if not table:
        return
    head = (heading, "cost", "input", "output", "cached")
    shown = table if heading in ("Day", "Model") else table[:_MOST_ROWS]
    screen.table([head, *(_cells(name or "unknown", amount) for name, amount in shown)], indent=0)
    if len(shown) < len(table):
        screen.line(f"... and {len(table) - len(shown)} more (--json has all)", "dim")
    screen.line()


def _cells(name: str, amount: Amount) -> tuple[str, ...]:
    cached = amount.cache_read + amount.cache_write
    return (name, money(amount.cost), f"{amount.input:,}", f"{amount.output:,}", f"{cached:,}")


def _session(screen: Screen, found: Ledgers, name: str) -> str:
    row = summary(found.paths[name])
    return f"{name[:8]} {screen.clip(row.title if row is not None else '', 52)}"


def _agent(screen: Screen, found: Ledgers, name: str) -> str:
    agent = found.agents[name]
    return f"{name[:8]} {screen.clip(f'{agent.kind}: {agent.description}', 52)}"


def _as_json(found: Ledgers) -> dict[str, Any]:
    rows = found.rows

    def listed(name: str, key: Callable[[Spent], str], some: list[Spent] = rows) -> list[dict[str, Any]]:
        return [{name: value, **_raw(amount)} for value, amount in sorted(_sums(some, key).items())]

    sessions = listed("sessionId", lambda r: r.session)
    for entry in sessions:
        row = summary(found.paths[entry["sessionId"]])
        entry |= {"title": row.title if row else None, "cwd": row.cwd if row else None}
    theirs = [row for row in rows if row.agent]
    agents = listed("agentId", lambda r: r.agent, theirs)
    for entry in agents:
        agent = found.agents[entry["agentId"]]
        used = sorted({row.model for row in theirs if row.agent == agent.id})
        entry |= {"sessionId": agent.session, "agentType": agent.kind, "description": agent.description}
        entry["models"] = used
    return {
        "total": _raw(_total(rows)),
        "days": listed("day", lambda r: r.day),
        "models": listed("model", lambda r: r.model),
        "sessions": sessions,
        "agentTypes": listed("agentType", found.kind),
        "agents": agents,
    }


def _raw(amount: Amount) -> dict[str, Any]:
    raw: dict[str, Any] = msgspec.to_builtins(amount)
    return {
        "costUSD": round(raw["cost"], 10),
        "inputTokens": raw["input"],
        "outputTokens": raw["output"],
        "cacheReadInputTokens": raw["cache_read"],
        "cacheCreationInputTokens": raw["cache_write"],
        "webSearchRequests": raw["web_searches"],
    }
