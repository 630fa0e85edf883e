"""How soon a change on disk is told: python -m benchmarks.watch. Milliseconds from the write to the hook.

- FileChanged with the notifier of the system, and by looking again and again
- 200 files at once, until the last one is told
- ConfigChange, whose debounce is a second
- what a run pays at its start when nothing is watched (the modules that are loaded)
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.subject import TESTS

sys.path.insert(0, str(TESTS))

from doubles import RecordingHost, ScriptedModel, session  # found through the line above
from forge.agent.hooks.port import NOTHING, Outcome
from forge.agent.watching import Watching
from forge.foundation.system.notify import Notifier, open_notifier

ROUNDS, MANY = 15, 200
Opener = Callable[[Callable[[], None]], Notifier | None]


class Clock:
    """Hooks that note when they were told of which path."""

    def __init__(self) -> None:
        self.told: dict[str, float] = {}
        self.news = asyncio.Event()

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        self.told[payload["file_path"]] = time.perf_counter()
        self.news.set()
        return NOTHING

    async def wait(self, count: int) -> None:
        while len(self.told) < count:
            self.news.clear()
            await self.news.wait()


async def reaction(
    folder: Path, opener: Opener, *, config: bool = False, rounds: int = ROUNDS
) -> list[float]:
    """Milliseconds from a write until it is told, one file after the other."""
    files = [folder / f"{config}{n}" for n in range(rounds)]
    for file in files:
        file.write_text("0")
    clock = Clock()
    s = session(ScriptedModel([]), RecordingHost(), [], hooks=clock, cwd=str(folder))
    sources = [("project_settings", str(file)) for file in files] if config else []
    watching = Watching(s, sources, lambda *what: None, notifier=opener)
    watching.begin([] if config else [str(file) for file in files], [])
    await asyncio.sleep(0.1)
    times = []
    for number, file in enumerate(files):
        begin = time.perf_counter()
        file.write_text("changed")
        await clock.wait(number + 1)
        times.append((clock.told[str(file)] - begin) * 1e3)
    await watching.close()
    return times


async def all_at_once(folder: Path) -> float:
    """Milliseconds from the first of many writes until all of them are told."""
    files = [folder / f"many{n}" for n in range(MANY)]
    for file in files:
        file.write_text("0")
    clock = Clock()
    s = session(ScriptedModel([]), RecordingHost(), [], hooks=clock, cwd=str(folder))
    watching = Watching(s, [], lambda *what: None)
    watching.begin([str(file) for file in files], [])
    begin = time.perf_counter()
    for file in files:
        file.write_text("changed")
    await clock.wait(MANY)
    took = (max(clock.told.values()) - begin) * 1e3
    await watching.close()
    return took


def idle(folder: Path) -> float:
    """The share of one processor that watching takes while nothing happens, in percent."""

    async def rest() -> float:
        s = session(ScriptedModel([]), RecordingHost(), [], hooks=Clock(), cwd=str(folder))
        watching = Watching(s, [("skills", str(folder))], lambda *what: None)
        watching.begin([], [])
        begin, used = time.perf_counter(), time.process_time()
        await asyncio.sleep(6)
        share = (time.process_time() - used) / (time.perf_counter() - begin)
        await watching.close()
        return share * 100

    return asyncio.run(rest())


def loaded() -> list[str]:
    """The modules of watching that a run without hooks loads."""
    code = (
        "import sys, forge.hosts.headless;"
        "print(' '.join(m for m in sys.modules if 'watch' in m or 'inotify' in m or 'ctypes' in m"
        " or 'worktree' in m or 'reloading' in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def row(name: str, times: list[float]) -> None:
    median, worst = statistics.median(times), max(times)
    print(f"{name:<44} median {median:7.1f} ms   worst {worst:7.1f} ms")  # a script for people


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        row("FileChanged, told by the system", asyncio.run(reaction(folder, open_notifier)))
        row("FileChanged, by looking", asyncio.run(reaction(folder, lambda wake: None)))
        row(f"FileChanged, {MANY} files at once", [asyncio.run(all_at_once(folder))])
        row("ConfigChange", asyncio.run(reaction(folder, open_notifier, config=True, rounds=5)))
        print(f"{'watching ' + str(MANY) + ' files, idle':<44} {idle(folder):.2f} % of a processor")
    print(f"loaded by a run that watches nothing: {loaded() or 'nothing'}")


if __name__ == "__main__":
    main()
