"""Writes the history beside the conversation: one thread, so that nobody waits for a disk.

Commands are lines in the journal, which the database takes in when there are many; only where the numbers of
the rows are needed it is open all the time.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import msgspec

from forge.core.shell.history.clean import clean_output, clean_text, is_cut
from forge.core.shell.history.journal import Entry, write_entry
from forge.core.shell.history.kinds import Begun, Finished
from forge.foundation.errors import ForgeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.history.record import History

# So many lines of this run, or so many bytes of all together, are worth the cost of the database.
_MANY = 64
_LARGE = 1 << 22


class Writer:
    """Takes notes for one session. `direct`: into the database at once. Whoever has it must `close` it."""

    def __init__(
        self, path: str, *, secrets: Sequence[str] = (), direct: bool = False, clock: Callable[[], float]
    ) -> None:
        self.failure = ""
        self._path = path
        self._secrets = tuple(secrets)
        self._direct = direct
        self._clock = clock
        self._waiting: deque[Entry | Callable[[], None]] = deque()
        self._more = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._history: History | None = None
        self._numbers: dict[str, int] = {}
        self._lines = 0

    def begin(self, what: Begun) -> None:
        """Notes that a command starts, or that it was denied."""
        self._add(Entry(what.session_id, what.call_id, self._now(), begun=what))

    def finish(self, session_id: str, call_id: str, what: Finished) -> None:
        """Notes how a command ended."""
        self._add(Entry(session_id, call_id, self._now(), finished=what))

    async def number(self, call_id: str) -> int:
        """The number of a command's row; 0 if it has none."""
        await self.written()
        return self._numbers.get(call_id, 0)

    async def problem(self) -> str:
        """Why nothing can be written; "" if it can."""
        if not self.failure and self._history is None:
            self._add(self._try)
            await self.written()
        return self.failure

    async def written(self) -> None:
        """Returns when everything noted so far is on disk, or cannot be."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            loop.call_soon_threadsafe(done.cancel)

        self._add(tell)
        await asyncio.wait((done,))

    def close(self) -> None:
        """Writes what is left and ends the thread."""
        if self._thread is not None:
            self._closing = True
            self._more.set()
            self._thread.join()
            self._thread = None

    def _add(self, what: Any) -> None:
        self._waiting.append(what)
        if self._thread is None:
            self._closing = False
            self._thread = threading.Thread(target=self._work, name="forge-history", daemon=True)
            self._thread.start()
        self._more.set()

    def _work(self) -> None:
        while True:
            self._more.wait()
            self._more.clear()
            while self._waiting:
                item = self._waiting.popleft()
                if callable(item):
                    item()
                else:
                    self._store(item)
            if self._closing and not self._waiting:
                break
        if self._history is not None:
            self._history.close()
            self._history = None

    def _try(self) -> None:
        try:
            self._open()
        except (OSError, ForgeError) as error:
            self.failure = str(error)

    def _open(self) -> None:
        if self._history is None and self._direct:
            self._history = self._opened()

    def _opened(self) -> History:
        record: Any = import_module("forge.core.shell.history.record")
        history: History = record.History(self._path, secrets=self._secrets, clock=self._clock)
        return history

    def _store(self, entry: Entry) -> None:
        if self.failure:
            return
        try:
            self._open()
            if self._history is not None:
                self._insert(self._history, entry)
            else:
                self._note_down(entry)
        except (OSError, ForgeError) as error:
            self.failure = str(error)

    def _note_down(self, entry: Entry) -> None:
        """A line in the journal; now and then the database takes all of them in, and is closed again."""
        size = write_entry(self._path, self._cleaned(entry))
        self._lines += 1
        if self._lines >= _MANY or size > _LARGE:
            self._lines = 0
            self._opened().close()

    def _insert(self, history: History, entry: Entry) -> None:
        number = history.note(entry, self._numbers.get(entry.call_id, 0))
        if number:
            self._numbers[entry.call_id] = number

    def _cleaned(self, entry: Entry) -> Entry:
        """The entry without secrets and not longer than the history would keep it."""
        replace = msgspec.structs.replace
        if entry.begun is not None:
            reasons = tuple(self._text(reason) for reason in entry.begun.reasons)
            command, cwd = self._text(entry.begun.command), self._text(entry.begun.cwd)
            return replace(entry, begun=replace(entry.begun, command=command, cwd=cwd, reasons=reasons))
        done = entry.finished
        if done is None:
            return entry
        done = replace(
            done,
            stdout=clean_output(done.stdout, self._secrets),
            stderr=clean_output(done.stderr, self._secrets),
            stdout_bytes=done.stdout_bytes or len(done.stdout),
            stderr_bytes=done.stderr_bytes or len(done.stderr),
            output_truncated=done.output_truncated or is_cut(done),
            error=self._text(done.error),
        )
        return replace(entry, finished=done)

    def _text(self, text: str) -> str:
        return clean_text(text, self._secrets)

    def _now(self) -> int:
        return int(self._clock() * 1_000_000)


def new_writer(path: str, secrets: Sequence[str], *, direct: bool) -> Writer:
    """A writer with the clock of this machine."""
    return Writer(path, secrets=secrets, direct=direct, clock=time.time)
