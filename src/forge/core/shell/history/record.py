"""The history of commands: a row at the start, completed at the end, so that a crash leaves a trace.

Secrets are taken out before anything is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from forge.core.shell.history.clean import clean_output, clean_text, is_cut
from forge.core.shell.history.journal import Entry, take_entries
from forge.core.shell.history.kinds import Begun, Finished
from forge.core.shell.history.schema import MIGRATIONS
from forge.foundation.errors import ForgeError
from forge.foundation.store import close_store, open_store

__all__ = ["Begun", "Finished", "History", "default_path", "unpacked"]

KEEP_DAYS = 30
KEEP_BYTES = 500_000_000
_COMPRESS = 512
_TAIL = 2000
_BATCH = 500
_CHECKPOINT_EVERY = 200


class History:
    """The one writer of a history file in this process. `secrets` are values that must never be written."""

    def __init__(
        self, path: str, *, secrets: Sequence[str] = (), clock: Callable[[], float] = time.time
    ) -> None:
        self._connection = open_store(path, MIGRATIONS)
        self._path = path
        self._secrets = tuple(secrets)
        self._clock = clock
        self._writes = 0
        # Short runs have only written down what they did, beside the file.
        take_entries(path, self.note)

    def begin(self, what: Begun, at: int = 0) -> int:
        """Notes that a command starts, or that it was denied; its number."""
        now = at or self._now()
        command = self._clean(what.command)
        fields = msgspec.structs.asdict(what) | {
            "command": command,
            "cwd": self._clean(what.cwd),
            "started_at": now,
            "reasons": json.dumps([self._clean(reason) for reason in what.reasons], ensure_ascii=False),
            "env_snapshot": json.dumps(dict(what.env_snapshot)),
            "command_hash": hashlib.sha256(command.encode("utf-8", "surrogatepass")).hexdigest(),
            "status": "denied" if what.permission_status == "denied" else "pending",
        }
        if fields["status"] == "denied":
            fields["ended_at"], fields["duration_ms"] = now, 0
        insert = "INSERT OR IGNORE INTO sessions (id, started_at, cwd) VALUES (?, ?, ?)"
        self._connection.execute(insert, (what.session_id, now, fields["cwd"]))
        return self._insert(fields)

    def finish(self, number: int, what: Finished, at: int = 0) -> None:
        """Completes the row of a command."""
        stdout, stderr = (clean_output(data, self._secrets) for data in (what.stdout, what.stderr))
        row = self._connection.execute(
            "SELECT started_at FROM forgecmd_history WHERE id = ?", (number,)
        ).fetchone()
        now = at or self._now()
        fields = {
            "ended_at": now,
            "duration_ms": (now - row[0]) // 1000 if row else None,
            "exit_code": what.exit_code,
            "status": what.status,
            "stdout": _packed(stdout),
            "stderr": _packed(stderr),
            "stdout_bytes": what.stdout_bytes or len(what.stdout),
            "stderr_bytes": what.stderr_bytes or len(what.stderr),
            "stdout_tail": stdout[-_TAIL:].decode("utf-8", "replace"),
            "output_truncated": int(what.output_truncated or is_cut(what)),
            "output_path": what.output_path,
            "error": self._clean(what.error),
        }
        names = ", ".join(f"{name} = ?" for name in fields)
        self._connection.execute(
            f"UPDATE forgecmd_history SET {names} WHERE id = ?", (*fields.values(), number)
        )
        self._wrote()

    def note(self, entry: Entry, number: int = 0) -> int:
        """Takes in an entry; `number` is the row it ends, 0 to look it up. ForgeError if that fails."""
        try:
            if entry.begun is not None:
                number = self.begin(entry.begun, entry.at)
            if entry.finished is not None and (number := number or self._row_of(entry)):
                self.finish(number, entry.finished, entry.at)
        except sqlite3.Error as error:
            raise ForgeError(f"{self._path}: cannot be written: {error}") from None
        return number

    def _row_of(self, entry: Entry) -> int:
        statement = "SELECT max(id) FROM forgecmd_history WHERE session_id = ? AND call_id = ?"
        row = self._connection.execute(statement, (entry.session_id, entry.call_id)).fetchone()
        return row[0] or 0

    def forget_session(self, session_id: str) -> None:
        """Removes a session with all its commands."""
        self._connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

    def prune(self, *, days: float = KEEP_DAYS, most: int = KEEP_BYTES) -> int:
        """Removes what is too old, and the oldest until the file is small enough; how many rows."""
        before = self._now() - int(days * 86_400_000_000)
        removed = self._remove("started_at < ?", before)
        while self._size() > most and (batch := self._remove("1 = 1", limit=self._tenth())):
            removed += batch
        if removed:
            orphans = "DELETE FROM sessions WHERE id NOT IN (SELECT session_id FROM forgecmd_history)"
            self._connection.execute(orphans)
            self._connection.execute("PRAGMA incremental_vacuum")
        return removed

    def close(self) -> None:
        """Closes the file."""
        close_store(self._connection)

    def _insert(self, fields: dict[str, Any]) -> int:
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        statement = f"INSERT INTO forgecmd_history ({names}) VALUES ({marks})"
        number = self._connection.execute(statement, tuple(fields.values())).lastrowid
        self._wrote()
        return number or 0

    def _remove(self, condition: str, *values: int, limit: int = _BATCH) -> int:
        """In batches, so that other processes can write in between."""
        removed = 0
        oldest = f"SELECT id FROM forgecmd_history WHERE {condition} ORDER BY started_at LIMIT {limit}"
        while True:
            done = self._connection.execute(f"DELETE FROM forgecmd_history WHERE id IN ({oldest})", values)
            removed += done.rowcount
            if done.rowcount < limit or not values:
                return removed

    def _tenth(self) -> int:
        """How many rows to take at once: a few large ones must not go all together."""
        rows: int = self._connection.execute("SELECT count(*) FROM forgecmd_history").fetchone()[0]
        return min(_BATCH, rows // 10 + 1)

    def _size(self) -> int:
        pages, free, size = (self._pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    def _pragma(self, name: str) -> int:
        value: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    def _wrote(self) -> None:
        self._writes += 1
        if self._writes % _CHECKPOINT_EVERY == 0:
            try:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.OperationalError:
                return  # a reader holds it; the next time will do

    def _clean(self, text: str) -> str:
        return clean_text(text, self._secrets)

    def _now(self) -> int:
        return int(self._clock() * 1_000_000)


def _packed(data: bytes) -> bytes | None:
    """Compressed if that pays; the first byte says whether."""
    if not data:
        return None
    return b"z" + zlib.compress(data) if len(data) > _COMPRESS else b"-" + data


def unpacked(data: bytes | None) -> bytes:
    """What was packed."""
    if not data:
        return b""
    return zlib.decompress(data[1:]) if data[:1] == b"z" else data[1:]


def default_path(directory: str) -> str:
    """Where the history is below the directory of this program."""
    return os.path.join(directory, "history.db")
