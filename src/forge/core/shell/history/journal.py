"""Rows on their way into the history: lines in a file beside it, which whoever opens the database takes in.

A short run would spend more on opening the database than on all its commands; a line costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from forge.core.shell.history.kinds import Begun, Finished
from forge.foundation.encode import NOT_JSON
from forge.foundation.system.locks import locked


class Entry(msgspec.Struct, frozen=True):
    """The start or the end of a command; `at` is microseconds since 1970."""

    session_id: str
    call_id: str
    at: int
    begun: Begun | None = None
    finished: Finished | None = None


def journal_of(path: str) -> str:
    """The file of a history."""
    return f"{path}.journal"


def write_entry(path: str, entry: Entry) -> int:
    """Adds a line for the history at `path`; the size of the file then. OSError if that cannot be done."""
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with locked(directory), open(_opened(journal_of(path), os.O_WRONLY | os.O_APPEND), "wb") as file:
        file.write(msgspec.json.encode(entry) + b"\n")
        file.flush()
        return os.fstat(file.fileno()).st_size


def take_entries(path: str, store: Callable[[Entry], object]) -> None:
    """Hands all lines to `store` and empties the file; lines that a crash has cut are left out."""
    journal = journal_of(path)
    try:
        if not os.path.getsize(journal):
            return
    except OSError:
        return
    with locked(os.path.dirname(path)), open(journal, "rb+") as file:
        for line in file.read().splitlines():
            try:
                entry = msgspec.json.decode(line, type=Entry)
            except NOT_JSON:
                continue
            store(entry)
        file.truncate(0)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
