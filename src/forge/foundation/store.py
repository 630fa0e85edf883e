"""SQLite files of this user: opened the same way everywhere, private, and safe with many processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence

from forge.foundation.errors import ForgeError

_BUSY_MS = 3000
_HINT = "Move the file away to start a new one."


def open_store(path: str, migrations: Sequence[str]) -> sqlite3.Connection:
    """A connection for writing, with all migrations applied; ForgeError if the file cannot be used."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise ForgeError(f"{path}: cannot be opened: {error}") from None
    try:
        _prepare(connection, path, migrations)
    except sqlite3.Error as error:
        connection.close()
        raise ForgeError(f"{path}: is not usable: {error}", _HINT) from None
    except BaseException:
        connection.close()
        raise
    return connection


def open_readonly(path: str) -> sqlite3.Connection:
    """A connection that cannot change anything; ForgeError if there is no such file."""
    try:
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        return sqlite3.connect(
            f"file:{quoted}?mode=ro", uri=True, timeout=_BUSY_MS / 1000, isolation_level=None
        )
    except sqlite3.Error as error:
        raise ForgeError(f"{path}: cannot be read: {error}") from None


def close_store(connection: sqlite3.Connection) -> None:
    """Closes a connection for writing and takes the log with it, so that it does not grow for ever."""
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:
        pass  # another process is busy with it: its turn will come
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection, path: str, migrations: Sequence[str]) -> None:
    # Must come before the first table, and is ignored later.
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    connection.execute("PRAGMA foreign_keys=ON")
    version = _version(connection)
    if version > len(migrations):
        raise ForgeError(f"{path}: was written by a newer version of this program", _HINT)
    if version == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        for number in range(_version(connection), len(migrations)):
            for statement in _statements(migrations[number]):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version={len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _statements(script: str) -> list[str]:
    """Statements of a script; in a transaction they must be run one by one."""
    found: list[str] = []
    text = ""
    for line in script.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            found.append(text)
            text = ""
    return found
