"""`python -m benchmarks.mapper [CASES [SEED]]`: how fast the CLI's output is mapped; a long fuzz.

Speed is compared with bare `json.loads` of the same lines in the same run. The fuzz damages recorded runs and
prints the seeds of cases in which something that must always hold did not.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("src", "tests")]

import cli_fuzz  # noqa: E402  # found through the line above
from forge.core.models.claude_cli.mapper import Mapper  # noqa: E402  # likewise
from unit.core.models.claude_cli import printed  # noqa: E402  # likewise

ROUNDS, REPEATED, WORDS, LARGE = 7, 10, 20_000, 2_000_000


def main(cases: int, seed: int) -> int:
    """Prints the figures; the exit code is 1 if a case failed."""
    recorded = [path.read_bytes().splitlines() for path in cli_fuzz.RUNS]
    answer = printed.streamed("")
    answer[2:3] = [{**printed.piece(0, "some words "), "uuid": f"uuid-{n}"} for n in range(WORDS)]
    large = [printed.whole(printed.text("x" * LARGE), by=f"msg_{n}") for n in range(3)]
    for name, runs in {
        "recorded runs": recorded * REPEATED,
        "a long streamed answer": [printed.encoded(*answer).splitlines()],
        "lines of 2 MB": [printed.encoded(*large).splitlines()],
    }.items():
        measure(name, runs)
    return fuzz(cases, seed)


def measure(name: str, runs: list[list[bytes]]) -> None:
    size = sum(len(line) + 1 for run in runs for line in run) / 1e6
    mapped, bare = best(lambda: map_all(runs)), best(lambda: load_all(runs))
    print(
        f"{name:24} {size:6.1f} MB  mapper {size / mapped:5.0f} MB/s  json.loads {size / bare:5.0f} MB/s"
        f"  ratio {bare / mapped:.2f}"
    )


def best(action: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return min(times)


def map_all(runs: list[list[bytes]]) -> None:
    for run in runs:
        mapper = Mapper()
        for line in run:
            mapper.feed(line)
        mapper.end(0)


def load_all(runs: list[list[bytes]]) -> None:
    for run in runs:
        for line in run:
            json.loads(line)


def fuzz(cases: int, seed: int) -> int:
    started, failed = time.perf_counter(), []
    for number in range(seed, seed + cases):
        try:
            cli_fuzz.check(number)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is a finding
            failed.append(f"seed {number}: {type(error).__name__}: {error}")
    print(f"fuzz: {cases} cases, {len(failed)} failed, {time.perf_counter() - started:.0f} s")
    print("".join(f"  {line}\n" for line in failed[:20]), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [10_000, 0][len(numbers) :])))
