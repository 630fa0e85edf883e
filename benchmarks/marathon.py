"""A session of thousands of turns in one process: python -m benchmarks.marathon [--turns 3000] ...

Prints how memory and turn times develop, what is left at the end, and whether every tool use was answered
once and the cost is exact.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("tests", "src")]

import marathon  # noqa: E402  # found through the line above
from marathon_plan import Size  # noqa: E402  # likewise

STRETCH = 100


def main() -> int:
    """Runs the session and prints its figures."""
    size = _size()
    with tempfile.TemporaryDirectory(prefix="forge-marathon-") as place:
        started = time.monotonic()
        outcome = marathon.run(Path(place).resolve(), size)
        took = time.monotonic() - started
    print(f"{size.turns} turns, {outcome.requests} requests, {outcome.calls} tool uses in {took:.0f} s")
    print(f"{outcome.compactions} compactions, {outcome.jobs} background tasks,", end=" ")
    print(f"{outcome.agents} sub-agents (at most {outcome.at_once} at once)")
    _memory(outcome)
    _times(outcome.samples[:-1])
    last = outcome.samples[-1]
    print(f"descriptors at the end: {last.descriptors}, of them {last.sockets} sockets", end=" ")
    print(f"(after the first turn {outcome.samples[0].descriptors} and {outcome.samples[0].sockets})")
    print(f"cost: {outcome.cost:.8f} dollars")
    for fault in outcome.faults[:20]:
        print(f"WRONG: {fault}")
    print(f"{len(outcome.faults)} faults")
    return 1 if outcome.faults else 0


def _memory(outcome: marathon.Outcome) -> None:
    turns = outcome.samples[:-1]
    places = sorted({min(n, len(turns)) for n in (100, 1000, 2000, 3000, len(turns))})
    for place in places:
        print(f"memory after turn {place}: {turns[place - 1].memory:.1f} MB")
    print(f"memory at its peak: {outcome.peak:.1f} MB")


def _times(turns: list[marathon.Sample]) -> None:
    for name, stretch in {"first": turns[1 : STRETCH + 1], "last": turns[-STRETCH:]}.items():
        wall, cpu = (statistics.median(getattr(s, kind) for s in stretch) for kind in ("wall", "cpu"))
        print(f"{name} {STRETCH} turns: {wall:.1f} ms wall, {cpu:.1f} ms CPU each (median)")
    slices = [turns[at : at + len(turns) // 20] for at in range(0, len(turns), max(1, len(turns) // 20))]
    middles = [statistics.median(s.cpu for s in part) for part in slices]
    for part, middle in zip(slices, middles, strict=True):
        print(f"  turn {part[0].turn:>5}  {middle:5.1f} ms CPU  {'#' * round(middle * 8)}")


def _size() -> Size:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.marathon", description=__doc__)
    for name, value in (("turns", 3000), ("compactions", 20), ("agents", 50), ("at-once", 10), ("jobs", 100)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return Size(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
