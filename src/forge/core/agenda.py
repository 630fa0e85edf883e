"""Prompts that are due later in this process: each one is a job that sleeps until its time."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from datetime import datetime

import msgspec

from forge.core.job import Job, JobEnd
from forge.core.schedule import next_run, parse_cron

# A sleep that lasted longer than asked for (a suspended machine) is noticed after at most so long.
_NAP = 30.0
_EXPIRES_AFTER = 7 * 24 * 3600.0


class Entry(msgspec.Struct, frozen=True):
    """A scheduled prompt; `cron` is empty for a wakeup. `job_id` is the job that waits for `due`."""

    id: str
    prompt: str
    due: float
    created: float
    job_id: str
    cron: str = ""
    recurring: bool = False


class Agenda:
    """The scheduled prompts of a session. Nothing of it outlives the process."""

    def __init__(
        self,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        new_id: Callable[[], str] = lambda: os.urandom(4).hex(),
    ) -> None:
        self.now, self._sleep, self._new_id = now, sleep, new_id
        self.entries: dict[str, Entry] = {}

    def add(self, prompt: str, due: float, begin: Callable[[Job], None], **facts: str | bool) -> Entry:
        """Schedules a prompt; `begin` starts its job. `facts` are `cron` and `recurring`."""
        identity = self._new_id()
        entry = Entry(identity, prompt, due, self.now(), identity)
        entry = msgspec.structs.replace(entry, **facts)
        self._wait_for(entry, begin)
        return entry

    def drop(self, identity: str, stop: Callable[[str], bool]) -> bool:
        """Cancels a prompt; false if there is none of that id."""
        entry = self.entries.pop(identity, None)
        if entry is None:
            return False
        stop(entry.job_id)
        return True

    def crons(self) -> list[Entry]:
        """What follows a cron expression, in the order it was made."""
        return [entry for entry in self.entries.values() if entry.cron]

    def wakeups(self) -> list[Entry]:
        """What does not."""
        return [entry for entry in self.entries.values() if not entry.cron]

    def _wait_for(self, entry: Entry, begin: Callable[[Job], None]) -> None:
        self.entries[entry.id] = entry

        async def run() -> JobEnd:
            while (left := entry.due - self.now()) > 0:
                await self._sleep(min(left, _NAP))
            if self.entries.get(entry.id) is entry:
                self._go_on(entry, begin)
            facts = (
                {}
                if entry.cron
                else {"wakeupSource": "loop_wakeup", "scheduledFor": str(int(entry.due * 1000))}
            )
            return JobEnd("completed", f"The scheduled prompt {entry.id} is due", entry.prompt, facts=facts)

        kind = "cron" if entry.cron else "wakeup"
        begin(Job(entry.job_id, kind, f"scheduled prompt: {entry.prompt[:60]}", run))

    def _go_on(self, entry: Entry, begin: Callable[[Job], None]) -> None:
        """A recurring prompt waits for its next time in a job of its own; others are done."""
        due = self._again(entry)
        if due is None:
            del self.entries[entry.id]
            return
        self._wait_for(msgspec.structs.replace(entry, due=due, job_id=f"{entry.id}-{self._new_id()}"), begin)

    def _again(self, entry: Entry) -> float | None:
        cron = parse_cron(entry.cron) if entry.recurring else None
        if cron is None or self.now() - entry.created >= _EXPIRES_AFTER:
            return None
        moment = next_run(cron, datetime.fromtimestamp(self.now()))
        return moment.timestamp() if moment is not None else None
