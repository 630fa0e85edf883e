"""`forge sessions list` and `search`."""

from __future__ import annotations

from itertools import islice
from typing import Any

from forge.foundation.errors import UsageError
from forge.foundation.history.session_search import Hit
from forge.foundation.history.session_search import search as find_words
from forge.foundation.history.sessions import Summary, list_sessions
from forge.foundation.ids import timestamp
from forge.hosts.cli.command import Arguments, print_json
from forge.hosts.cli.sessions_place import Place, age, amount, money, number

_HITS = 5


def list_rows(place: Place, given: Arguments) -> int:
    """Prints the sessions, newest first."""
    if given.words:
        raise UsageError(f"list takes no word; did you mean: forge sessions show {given.words[0]}")
    rows = list_sessions(place.folders(given))
    shown = rows[: number(given, "limit", len(rows))]
    if given.on("json"):
        print_json([_raw(row) for row in shown])
        return 0
    if not rows:
        everywhere = "" if given.on("all") else " of this directory (--all shows those of every directory)"
        place.screen.say(f"There are no recorded sessions{everywhere}.")
        return 0
    for row in shown:
        _print(place, row, with_cwd=given.on("all"))
    if len(shown) < len(rows):
        place.screen.line(f"... and {len(rows) - len(shown)} more", "dim")
    return 0


def search(place: Place, given: Arguments) -> int:
    """Prints where the words were said; ends with 1 when nowhere."""
    words = " ".join(given.words).strip()
    if not words:
        raise UsageError("Say what to search for, as in: forge sessions search 'race condition'")
    limit = number(given, "limit", 1_000_000)
    found: list[tuple[Summary, list[Hit]]] = []
    for row in list_sessions(place.folders(given)):
        hits = list(islice(find_words(row.path, words), _HITS + 1))
        if hits and len(found) < limit:
            found.append((row, hits))
    if given.on("json"):
        print_json([{**_raw(row), "hits": hits[:_HITS], "more": len(hits) > _HITS} for row, hits in found])
        return 0 if found else 1
    for row, hits in found:
        _print(place, row, with_cwd=given.on("all"))
        for hit in hits[:_HITS]:
            place.screen.say(hit.excerpt, first=f"    {hit.who}: ", then="      ")
        if len(hits) > _HITS:
            place.screen.line("    ... and more", "dim")
    if not found:
        place.screen.say(f"Nothing was found for {words!r}.")
    return 0 if found else 1


def _print(place: Place, row: Summary, *, with_cwd: bool) -> None:
    screen = place.screen
    turns = "" if row.turns is None else f"{row.turns} turn{'s'[: row.turns != 1]}"
    cost = "" if row.cost is None else money(row.cost)
    branch = "" if row.branch in ("", "HEAD") else row.branch
    facts = [
        age(place.now - row.modified),
        turns,
        cost,
        amount(row.size),
        branch,
        row.cwd if with_cwd else "",
    ]
    screen.line(screen.clip(row.title), "bold")
    screen.line(f"  {row.id}", "cyan")
    screen.say(" · ".join(f for f in facts if f), "dim", first="  ")


def _raw(row: Summary) -> dict[str, Any]:
    return {
        "sessionId": row.id,
        "title": row.title,
        "firstPrompt": row.first_prompt,
        "cwd": row.cwd,
        "gitBranch": row.branch or None,
        "createdAt": row.created or None,
        "modifiedAt": timestamp(row.modified),
        "turns": row.turns,
        "costUSD": row.cost,
        "fileSize": row.size,
        "path": row.path,
    }
