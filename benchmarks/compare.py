"""Scripted jobs, Forge beside the reference program: `python -m benchmarks.compare --reference PATH`.

Runs are interleaved, so that a busy machine disturbs both programs alike. Times and memory are measured in
separate rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict

from benchmarks.jobs import DONE, JOBS, SLOPE
from benchmarks.measure import Run, run
from benchmarks.subject import Subject, installed_forge, servers, subjects
from benchmarks.table import Figures, columns, figures, ratios, table

MEASURES = ("wall ms", "cpu ms", "largest process MB", "all processes MB")
Samples = dict[tuple[str, str], dict[str, list[float]]]  # (job, program) → measure → values


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    with subjects(options.forge, options.reference) as programs, servers(options.jobs) as urls:
        samples = measure(programs, urls, options.rounds, options.memory_rounds)
    result = {job: {p.name: figures(samples[job, p.name]) for p in programs} for job in options.jobs}
    if set(SLOPE[:2]) <= set(options.jobs):
        result["slope"] = {p.name: _slope(samples, p.name) for p in programs}
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(table([_row(job, name, by) for job, by in result.items() for name in _measures(by)]))
    return 0 if all(by.get("forge") for by in result.values()) else 1


def measure(programs: list[Subject], urls: dict[str, str], rounds: int, memory_rounds: int) -> Samples:
    """All rounds of all jobs. The first round warms caches up and is not counted."""
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for number in range(1 + rounds + memory_rounds):
        sampled = number > rounds
        for job in urls:
            for program in programs if number % 2 else programs[::-1]:
                done = _attempt(program, urls[job], job, sampled)
                if done is None or number == 0:
                    continue
                for name, value in _values(done, sampled).items():
                    samples[job, program.name][name].append(value)
        print(f"round {number} of {rounds + memory_rounds}", file=sys.stderr)
    return samples


def _values(done: Run, sampled: bool) -> dict[str, float]:
    if sampled:
        return {"all processes MB": done.memory}
    return {"wall ms": done.wall, "cpu ms": done.cpu, "largest process MB": done.largest}


def _attempt(program: Subject, url: str, job: str, sampled: bool) -> Run | None:
    command, env = program.job(url)
    done = run(command, env, program.home, sample=sampled)
    if done.exit_code == 0 and DONE.encode() in done.stdout:
        return done
    tail = (done.stderr or done.stdout)[-400:].decode(errors="replace").strip()
    print(f"{program.name} failed job {job!r} with exit code {done.exit_code}: {tail}", file=sys.stderr)
    return None


def _slope(samples: Samples, program: str) -> Figures:
    """Milliseconds each further tool turn costs, from the difference of two jobs."""
    short, long, turns = SLOPE
    few, many = figures(samples[short, program]), figures(samples[long, program])
    return {
        name: {kind: round((many[name][kind] - few[name][kind]) / turns, 2) for kind in ("median", "min")}
        for name in few.keys() & many.keys()
        if name.endswith(" ms")
    }


def _row(job: str, measure: str, by_program: dict[str, Figures]) -> dict[str, str]:
    row = {"job": JOBS[job].what if job in JOBS else "one more tool turn", "measure": measure}
    for name, measured in by_program.items():
        row |= columns(name, measured, measure)
    if "reference" in by_program:
        row |= ratios(by_program["forge"], by_program["reference"], measure)
    return row


def _measures(by_program: dict[str, Figures]) -> list[str]:
    return [name for name in MEASURES if any(name in f for f in by_program.values())]


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("--forge", default=installed_forge(), help="the forge to measure")
    parser.add_argument("--reference", help="path of the reference CLI; without it only Forge is measured")
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds")
    parser.add_argument("--memory-rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print figures as JSON instead of a table")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
