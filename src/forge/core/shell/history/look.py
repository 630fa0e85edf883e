"""Questions to the command history. Reading never disturbs the process that writes."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

import msgspec

from forge.core.shell.history.journal import journal_of
from forge.core.shell.history.record import History, unpacked
from forge.foundation.errors import ForgeError
from forge.foundation.store import open_readonly

_COLUMNS = (
    "id, session_id, command, cwd, started_at, duration_ms, exit_code, status, risk_score, category, "
    "permission_status, stdout_bytes, stderr_bytes, output_truncated, profile"
)


class Entry(msgspec.Struct, frozen=True):
    """A command in the history, without its output. `started_at` is microseconds since 1970."""

    id: int
    session_id: str
    command: str
    cwd: str
    started_at: int
    duration_ms: int | None
    exit_code: int | None
    status: str
    risk_score: int
    category: str
    permission_status: str
    stdout_bytes: int
    stderr_bytes: int
    output_truncated: bool
    profile: str


class Statistics(msgspec.Struct, frozen=True):
    """Counts of a session or of everything."""

    commands: int
    failures: int
    denied: int
    unfinished: int
    milliseconds: int
    output_bytes: int


class Excerpt(msgspec.Struct, frozen=True):
    """Part of an output: lines with their numbers, from 1, and how many lines there are in all."""

    lines: tuple[tuple[int, str], ...]
    total: int


class Reader:
    """A reading connection; whoever has it must call `close`."""

    def __init__(self, path: str) -> None:
        if os.path.exists(journal_of(path)):
            with contextlib.suppress(ForgeError, OSError):  # what cannot be taken in now can be later
                History(path).close()
        self._connection = open_readonly(path)

    def recent(self, *, session_id: str = "", limit: int = 50) -> list[Entry]:
        """The newest commands first."""
        where = "WHERE session_id = ?" if session_id else ""
        values = (session_id, limit) if session_id else (limit,)
        return self._entries(f"{where} ORDER BY started_at DESC, id DESC LIMIT ?", *values)

    def search(self, text: str, *, limit: int = 50) -> list[Entry]:
        """Commands that contain all words, or the text as it is in command or output; newest first."""
        words = " ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        found: list[Entry] = []
        if words:
            inner = "SELECT rowid FROM forgecmd_words WHERE forgecmd_words MATCH ?"
            found = self._entries(f"WHERE id IN ({inner}) ORDER BY started_at DESC LIMIT ?", words, limit)
        if not found:
            like = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            where = "WHERE command LIKE ? ESCAPE '\\' OR stdout_tail LIKE ? ESCAPE '\\'"
            found = self._entries(f"{where} ORDER BY started_at DESC LIMIT ?", like, like, limit)
        return found

    def find(self, number: int) -> Entry | None:
        """One command by its number."""
        found = self._entries("WHERE id = ?", number)
        return found[0] if found else None

    def output(
        self, number: int, *, offset: int = 1, limit: int = 200, pattern: str = "", errors: bool = False
    ) -> Excerpt:
        """Lines of an output: a page of them, or those that match a regular expression."""
        column = "stderr" if errors else "stdout"
        statement = f"SELECT {column} FROM forgecmd_history WHERE id = ?"
        row = self._connection.execute(statement, (number,)).fetchone()
        lines = unpacked(row[0] if row else None).decode("utf-8", "replace").split("\n")
        numbered = list(enumerate(lines, start=1))
        if pattern:
            wanted = re.compile(pattern)
            numbered = [pair for pair in numbered if wanted.search(pair[1])]
            return Excerpt(tuple(numbered[:limit]), len(lines))
        return Excerpt(tuple(numbered[max(offset - 1, 0) :][:limit]), len(lines))

    def statistics(self, *, session_id: str = "") -> Statistics:
        """Counts, for one session or for all."""
        where = "WHERE session_id = ?" if session_id else ""
        counts = (
            "count(*), sum(status IN ('error', 'timeout')), sum(status = 'denied'), sum(status = 'pending'), "
            "sum(duration_ms), sum(stdout_bytes + stderr_bytes)"
        )
        statement = f"SELECT {counts} FROM forgecmd_history {where}"
        row = self._connection.execute(statement, (session_id,) if session_id else ()).fetchone()
        return Statistics(*(value or 0 for value in row))

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _entries(self, rest: str, *values: Any) -> list[Entry]:
        statement = f"SELECT {_COLUMNS} FROM forgecmd_history {rest}"
        rows = self._connection.execute(statement, values).fetchall()
        return [msgspec.convert(row, Entry, strict=False) for row in map(_named, rows)]


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(Entry.__struct_fields__, row, strict=True))
