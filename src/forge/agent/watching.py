"""Watches files for one session: tells hooks what has changed, and takes over settings that did."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable

from forge.agent.session import Session
from forge.foundation.inside import is_inside
from forge.foundation.system.notify import Notifier, open_notifier
from forge.foundation.watch import CONFIG, FILES, Change, Timing, Watch
from forge.foundation.watched import Watched

log = logging.getLogger("forge.watch")

# Without a notifier one looks this often; with one, only to be safe (network file systems tell nothing).
LOOK_EVERY = 0.3
LOOK_ANYWAY = 3.0
# Whatever happens within this time is looked at together.
GATHER = 0.02
POLICY = "policy_settings"
# So many changes are told at a time: hundreds of changed files must not start as many programs at once.
AT_ONCE = 16

# Takes over what a path of a source says now; the flag is false if it must stay as it was.
TakeOver = Callable[[str, str, bool], None]


class Watching:
    """The watcher of one session. `sources` are (source, path) of settings; a path may be a directory."""

    def __init__(
        self,
        s: Session,
        sources: Iterable[tuple[str, str]],
        take_over: TakeOver,
        *,
        timings: tuple[Timing, Timing] = (FILES, CONFIG),
        notifier: Callable[[Callable[[], None]], Notifier | None] = open_notifier,
    ) -> None:
        self._s = s
        self._sources = list(sources)
        self._take_over = take_over
        self._names: list[str] = []
        self._named: list[str] = []
        self._files, self._settings = Watched(), Watched()
        self._file_watch, self._setting_watch = Watch(timings[0]), Watch(timings[1])
        self._woken = asyncio.Event()
        self._notifier = notifier(self._woken.set)
        self._complete = True
        self._running: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._task: asyncio.Task[None] | None = None

    def begin(self, names: Iterable[str], named: Iterable[str]) -> None:
        """Watches from now on: `names` of matchers, relative to the directory, and what hooks `named`."""
        self._names, self._named = list(names), list(named)
        self._settings.watch(path for _, path in self._sources)
        self._aim()
        self._task = asyncio.ensure_future(self._run())

    def also(self, paths: list[str]) -> None:
        self._named = paths
        self._aim()

    def moved(self) -> None:
        self._aim()

    def rename(self, names: list[str]) -> None:
        """Other names are of interest, because the hooks are others."""
        if names != self._names:
            self._names = names
            self._aim()

    def own_write(self, path: str) -> None:
        """Forge itself is about to write this file; links may lead to it under the name that is watched."""
        for _, known in self._sources:
            real = os.path.realpath(known)
            if is_inside(path, real):
                self._setting_watch.own_write(known + path[len(real) :], time.monotonic())

    def source_of(self, path: str) -> str:
        """The source a path of the settings belongs to."""
        for source, known in self._sources:
            if is_inside(path, known):
                return source
        return ""

    async def close(self) -> None:
        if self._notifier is not None:
            self._notifier.close()
            self._notifier = None
        tasks = [t for t in (self._task, *self._running) if t is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _aim(self) -> None:
        cwd = self._s.situation.cwd
        wanted = [os.path.normpath(os.path.join(cwd, n)) for n in (*self._names, *self._named)]
        for path in set(self._files.paths) - set(wanted):
            self._file_watch.forget(path)
        self._files.watch(wanted)
        self._follow()

    def _follow(self) -> None:
        folders = self._files.folders() | self._settings.folders()
        self._complete = self._notifier is not None and self._notifier.follow(folders)

    async def _run(self) -> None:
        while True:
            await self._wait()
            now = time.monotonic()
            for path, event in self._files.changes():
                self._file_watch.seen(path, event, now)
            for path, event in self._settings.changes():
                self._setting_watch.seen(path, event, now)
            self._follow()
            for change in self._file_watch.due(now):
                self._beside(self._tell_file(change))
            for change in self._setting_watch.due(now):
                self._beside(self._tell_setting(change))

    async def _wait(self) -> None:
        """Until something happens, something is due, or it is time to look anyway."""
        now = time.monotonic()
        due = [at for at in (self._file_watch.next_at(), self._setting_watch.next_at()) if at is not None]
        limit = LOOK_ANYWAY if self._complete else LOOK_EVERY
        seconds = min([limit, *(max(at - now, 0.0) for at in due)])
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return
        await asyncio.sleep(GATHER)
        self._woken.clear()

    def _beside(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _tell_file(self, change: Change) -> None:
        log.debug("%s: %s", change.event, change.path)
        async with self._room:
            outcome = await self._s.hooks.fire("FileChanged", file_path=change.path, event=change.event)
        if outcome.watch:
            self.also(outcome.watch)

    async def _tell_setting(self, change: Change) -> None:
        """ConfigChange: a hook may keep the session as it is, except from what the policy says."""
        source = self.source_of(change.path)
        log.debug("%s of %s: %s", change.event, source, change.path)
        outcome = await self._s.hooks.fire("ConfigChange", source=source, file_path=change.path)
        wanted = source == POLICY or not outcome.blocks
        if not wanted:
            log.debug("kept as it was, because of %s", outcome.blocks[0].label)
        self._take_over(source, change.path, wanted)


def matcher_names(matchers: Iterable[str]) -> list[str]:
    """The files that matchers of FileChanged name: parts between bars, trimmed, without empty ones."""
    parts = [part.strip() for matcher in matchers for part in matcher.split("|")]
    return list(dict.fromkeys(part for part in parts if part and part != "*"))
