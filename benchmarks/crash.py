"""Kills sessions at random moments, looks for damage: python -m benchmarks.crash [ROUNDS [SEED]].

A fifth of the rounds each: many calls, compaction, sub-agents, background tasks, rewinding.
"""

from __future__ import annotations

import logging
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("tests", "src")]

import crash  # noqa: E402  # found through the line above
import crash_kinds  # noqa: E402  # likewise
import crash_rewind  # noqa: E402  # likewise
from fakemodel import Server, serve  # noqa: E402  # likewise
from marathon_plan import Step  # noqa: E402  # likewise

Round = tuple[str, list[str]]  # what was going on, what was found wrong


def main() -> int:
    """Runs the rounds and prints what was found."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    base = Path(tempfile.mkdtemp(prefix="forge-crash-")).resolve()
    each = rounds // 5
    faulty = 0
    # A killed client is no news here.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with serve([]) as server:
        kinds: dict[str, Iterator[Round]] = {"calls": _calls(base, rounds - 4 * each, seed)}
        for name, make in crash_kinds.KINDS.items():
            kinds[name] = _sessions(base / name, server, make, (each, seed))
        kinds["rewind"] = _rewinds(base / "rewind", server, each, seed)
        for name, results in kinds.items():
            faulty += _report(name, results)
    print(f"{rounds} kills, {faulty} with damage or not resumable")
    if not faulty:
        shutil.rmtree(base, ignore_errors=True)
    return 1 if faulty else 0


def _report(name: str, results: Iterator[Round]) -> int:
    doing: Counter[str] = Counter()
    faulty = 0
    for number, (moment, faults) in enumerate(results):
        doing[moment] += 1
        if faults:
            faulty += 1
            print(f"{name}, round {number}, killed during {moment}: {faults}")
    happened = ", ".join(f"{count} during {what}" for what, count in sorted(doing.items()))
    print(f"{name}: {doing.total()} kills ({happened}), {faulty} faulty", flush=True)
    return faulty


def _calls(base: Path, rounds: int, seed: int) -> Iterator[Round]:
    base.mkdir(exist_ok=True)
    script = crash.scenario(base / "thirty-calls.json")
    started = time.monotonic()
    crash.run_and_kill(base / "whole", script, None)
    whole = (time.monotonic() - started) * 1000
    for number, moment in enumerate(crash.moments(rounds, whole, seed)):
        place = base / str(number)
        crash.run_and_kill(place, script, moment)
        faults = crash.damage(place) + ([] if crash.resumes(place, script) else ["does not resume"])
        yield "calls", _cleared(place, faults)


def _sessions(
    base: Path, server: Server, make: Callable[[], dict[str, Step]], count: tuple[int, int]
) -> Iterator[Round]:
    """Sessions of a kind; every other kill comes shortly after a request of what the kind is about."""
    rounds, seed = count
    source = random.Random(seed)
    allowed = crash_kinds.states(make())
    started = time.monotonic()
    history = crash_kinds.run_and_kill(base / "whole", server, make()).history
    wanted = [n for n, what in enumerate(history) if what not in ("start", "turn")]
    wanted = wanted or list(range(1, len(history)))
    whole = (time.monotonic() - started) * 1000
    for number in range(rounds):
        place = base / str(number)
        timed = crash_kinds.Kill(source.uniform(60, whole))
        aimed = crash_kinds.Kill(source.uniform(0, 5), source.choice(wanted))
        watch = crash_kinds.run_and_kill(place, server, make(), aimed if number % 2 else timed)
        faults = crash_kinds.damage(place, allowed) + crash_kinds.resumes(place, server)
        yield watch.doing, _cleared(place, faults)


def _rewinds(base: Path, server: Server, rounds: int, seed: int) -> Iterator[Round]:
    """Rewinds by the command and in a living session, in turns."""
    source = random.Random(seed)
    scene = crash_rewind.Scene(base, server)
    ways = {"rewind (living session)": scene.rewind_alive, "rewind (command)": scene.rewind}
    whole = {}
    for name, way in ways.items():
        whole[name] = way(1)
        scene.restore()
    for number in range(rounds):
        name = list(ways)[number % 2]
        prompt = source.randrange(1, crash_rewind.PROMPTS)
        earliest = whole[name] * (0.5 if number % 2 else 0)  # the command first has to start
        ways[name](prompt, source.uniform(earliest, whole[name]))
        yield name, scene.faults(prompt)
        scene.restore()


def _cleared(place: Path, faults: list[str]) -> list[str]:
    """The faults; a place without any is removed, others can be looked at."""
    if not faults:
        shutil.rmtree(place, ignore_errors=True)
    return [*faults, str(place)] if faults else []


if __name__ == "__main__":
    sys.exit(main())
