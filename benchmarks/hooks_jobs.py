"""What ten no-op hooks add to whole jobs, Forge beside the reference: python -m benchmarks.hooks_jobs PATH.

A job with one call has the cost of the first use and of one event, a job with nine calls eight events more.
All runs are interleaved; the difference of with and without hooks is taken within a round. CPU time is that
of the program and of the hooks it has waited for; on a busy machine it says more than the clock.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.jobs import DONE
from benchmarks.measure import run
from benchmarks.subject import TESTS, Subject, installed_forge, subjects

sys.path.insert(0, str(TESTS))

from fakemodel import serve  # found through the line above

HOOKS, FEW, MANY = 10, 1, 9
Times = dict[tuple[str, int, bool], list[float]]


def turns(calls: int, file: str) -> list[Any]:
    return [*([{"tool": "Read", "input": {"file_path": file}}] for _ in range(calls)), [{"text": DONE}]]


def settings(*, hooks: bool) -> str:
    handlers = [{"type": "command", "command": f": {n}"} for n in range(HOOKS if hooks else 0)]
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": handlers}]}} if handlers else {})


def measured(both: list[Subject], rounds: int) -> tuple[Times, Times]:
    """Milliseconds of every run, on the clock and of CPU: program, number of calls, with hooks or without."""
    cases = list(product((FEW, MANY), (False, True)))
    walls: Times = {(subject.name, *case): [] for subject in both for case in cases}
    works: Times = {key: [] for key in walls}
    with ExitStack() as stack:
        places: dict[tuple[str, int], tuple[list[str], dict[str, str]]] = {}
        for subject in both:
            Path(subject.home, ".claude").mkdir(exist_ok=True)
            file = Path(subject.home, "a.txt")
            file.write_text("a\n")
            for calls in (FEW, MANY):
                server = stack.enter_context(serve(turns(calls, str(file))))
                places[subject.name, calls] = subject.job(server.url)
        for number in range(rounds + 1):
            for case in cases if number % 2 else reversed(cases):
                for subject in both if number % 2 else reversed(both):
                    calls, hooks = case
                    Path(subject.home, ".claude", "settings.json").write_text(settings(hooks=hooks))
                    ended = run(*places[subject.name, calls], subject.home, timeout=30)
                    assert DONE.encode() in ended.stdout, ended
                    if number:  # the first round warms up
                        walls[subject.name, calls, hooks].append(ended.wall)
                        works[subject.name, calls, hooks].append(ended.cpu)
    return walls, works


def added(times: Times, name: str, calls: int) -> tuple[float, float]:
    """What hooks add to a job: the median of the differences, and the difference of the best runs."""
    without, with_ = times[name, calls, False], times[name, calls, True]
    pairs = zip(with_, without, strict=True)
    return statistics.median(a - b for a, b in pairs), min(with_) - min(without)


def report(what: str, times: Times) -> list[str]:
    lines = []
    for at, named in enumerate(("median", "best")):
        few, many = (
            [added(times, name, calls)[at] for name in ("forge", "reference")] for calls in (FEW, MANY)
        )
        each = [(m - f) / (MANY - FEW) for f, m in zip(few, many, strict=True)]
        rows = {
            "job of 1 call": few,
            "job of 9 calls": many,
            "each event": each,
            "first use": [f - e for f, e in zip(few, each, strict=True)],
        }
        for row, (mine, other) in rows.items():
            ratio = f"{mine / other:.2f} ×" if other > 0 else "-"
            lines.append(
                f"{what:5} {named:6}  {row:15} forge {mine:7.2f} ms   reference {other:7.2f} ms   {ratio}"
            )
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.hooks_jobs", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("reference", help="the reference CLI")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args(arguments)
    with subjects(installed_forge(), given.reference) as both:
        walls, works = measured(both, given.rounds)
        print("\n".join(report("clock", walls) + report("CPU", works)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
