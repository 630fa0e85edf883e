"""`forgecmd history`, `search`, `show` and `stats`: what ran, what it said, what was refused."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Mapping

import msgspec

from forge.core.shell.history.look import Entry, Excerpt, Reader, Statistics
from forge.foundation.errors import ForgeError, UsageError
from forge.hosts.cli.screen import Screen, clean, open_screen
from forge.hosts.guarded.ground import history_path
from forge.hosts.guarded.options import FLAG, NUMBER, VALUE, Given, read_options

_KINDS = {
    "history": {"limit": NUMBER, "session": VALUE, "json": FLAG},
    "search": {"limit": NUMBER, "json": FLAG},
    "show": {"offset": NUMBER, "limit": NUMBER, "grep": VALUE, "errors": FLAG, "json": FLAG},
    "stats": {"session": VALUE, "json": FLAG},
}
_LIMIT = 30
_PAGE = 200
_NOTHING = "No history yet. It begins with your first `forgecmd run -- COMMAND`."


def command(argv: list[str], env: Mapping[str, str]) -> int:
    """Runs one of the four commands and returns the exit code."""
    name = argv[0]
    given = read_options(argv[1:], _KINDS[name])
    path = history_path(env)
    screen = open_screen(env)
    if not os.path.exists(path):
        return _empty(name, given, screen)
    reader = Reader(path)
    try:
        reader.recent(limit=1)
        if name == "show":
            return _show(reader, given, screen)
        if name == "stats":
            return _stats(reader, given, screen)
        return _list(reader, name, given, screen)
    except sqlite3.Error as error:
        raise ForgeError(
            f"{path}: is not usable: {error}", "Move the file away to start a new one."
        ) from None
    finally:
        reader.close()


def _empty(name: str, given: Given, screen: Screen) -> int:
    if name == "show":
        raise ForgeError(_NOTHING)
    if given.has("json"):
        _print([] if name != "stats" else msgspec.to_builtins(Statistics(0, 0, 0, 0, 0, 0)))
    else:
        screen.say(_NOTHING)
    return 0


def _list(reader: Reader, name: str, given: Given, screen: Screen) -> int:
    limit = given.number("limit", _LIMIT)
    if name == "search":
        if not given.words:
            raise UsageError("search needs a text, for example: forgecmd search docker")
        text = " ".join(given.words)
        found = reader.search(text, limit=limit)
        nothing = f"No command has {text!r} in it or in its output."
    else:
        found = reader.recent(session_id=given.text("session"), limit=limit)
        nothing = f"Nothing in session {given.text('session')!r}." if given.has("session") else _NOTHING
    if given.has("json"):
        _print([msgspec.to_builtins(entry) for entry in found])
    elif not found:
        screen.say(nothing)
    else:
        _table(found, screen)
    return 0


def _table(found: list[Entry], screen: Screen) -> None:
    width = max(len(str(entry.id)) for entry in found)
    for entry in found:
        mark, style = _mark(entry, screen)
        head = f"{entry.id:>{width}}  {_when(entry)}  {mark:<8}  {_took(entry):>7}"
        line = screen.clip(entry.command, len(head) + 2)
        screen.line(f"{head[: width + 22]}{screen.paint(head[width + 22 :], style)}  {line}")


def _mark(entry: Entry, screen: Screen) -> tuple[str, str]:
    """How a command ended, in a word."""
    if entry.status == "success":
        return screen.signs["ok"], "green"
    if entry.status == "error":
        return (f"exit {entry.exit_code}" if entry.exit_code is not None else "failed"), "red"
    return {"pending": "running?"}.get(entry.status, entry.status), "yellow"


def _when(entry: Entry) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.started_at / 1e6))


def _took(entry: Entry) -> str:
    if entry.duration_ms is None:
        return ""
    return f"{entry.duration_ms} ms" if entry.duration_ms < 10_000 else f"{entry.duration_ms // 1000} s"


def _show(reader: Reader, given: Given, screen: Screen) -> int:
    if len(given.words) != 1 or not given.words[0].isdigit():
        raise UsageError("show needs the number of a command, for example: forgecmd show 12")
    number = int(given.words[0])
    entry = reader.find(number)
    if entry is None:
        raise ForgeError(f"The history has no command {number}.", "`forgecmd history` lists the newest.")
    excerpt = _excerpt(reader, number, given)
    if given.has("json"):
        _print({**msgspec.to_builtins(entry), "lines": excerpt.lines, "total_lines": excerpt.total})
        return 0
    rows = [
        ("command", entry.command),
        ("directory", entry.cwd),
        ("started", f"{_when(entry)}, took {_took(entry) or '?'}"),
        ("ended", f"{entry.status}" + ("" if entry.exit_code is None else f", exit code {entry.exit_code}")),
        ("judged", f"{entry.category}, risk {entry.risk_score}, {entry.permission_status}"),
        ("sandbox", entry.profile or "none"),
    ]
    screen.table(rows, 0, styles={0: "dim"})
    screen.line()
    for at, line in excerpt.lines:
        screen.line(f"{screen.paint(f'{at:>6}', 'dim')}  {clean(line)}")
    _page_note(excerpt, number, given, screen)
    return 0


def _excerpt(reader: Reader, number: int, given: Given) -> Excerpt:
    try:
        return reader.output(
            number,
            offset=given.number("offset", 1),
            limit=given.number("limit", _PAGE),
            pattern=given.text("grep"),
            errors=given.has("errors"),
        )
    except re.error as error:
        wrong = f"--grep: {given.text('grep')!r} is not a regular expression ({error})"
        raise UsageError(wrong) from None


def _page_note(excerpt: Excerpt, number: int, given: Given, screen: Screen) -> None:
    if given.has("grep"):
        screen.say(f"{len(excerpt.lines)} of {excerpt.total} lines match.", "dim")
        return
    last = excerpt.lines[-1][0] if excerpt.lines else 0
    if last < excerpt.total and excerpt.lines:
        more = f"forgecmd show {number} --offset {last + 1}"
        screen.say(f"{excerpt.total - last} more lines: {more}", "dim")


def _stats(reader: Reader, given: Given, screen: Screen) -> int:
    found = reader.statistics(session_id=given.text("session"))
    if given.has("json"):
        _print(msgspec.to_builtins(found))
        return 0
    rows = [
        ("commands", str(found.commands)),
        ("failed", str(found.failures)),
        ("refused", str(found.denied)),
        ("unfinished", str(found.unfinished)),
        ("time", f"{found.milliseconds / 1000:.1f} s"),
        ("output", f"{found.output_bytes} bytes"),
    ]
    screen.table(rows, 0)
    return 0


def _print(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
