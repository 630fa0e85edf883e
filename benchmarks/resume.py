"""Resuming a large transcript: wall time and memory beside the reference CLI.

    python -m benchmarks.resume [--reference PATH] [--megabytes 50] [--rounds 5]

Two transcripts are made: `compacted` has a compaction every 200 turns, as long sessions have; in `whole`
nothing was ever dropped, so everything is sent to the (scripted) model again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.jobs import JOBS
from benchmarks.measure import run
from benchmarks.subject import MODEL, Subject, installed_forge, servers, subjects

SESSION = "0b7c1d4e-5f6a-4b8c-9d0e-1f2a3b4c5d6e"
COMPACT_EVERY = 200


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    job = min(JOBS, key=lambda name: len(JOBS[name].turns))
    with subjects(options.forge, options.reference) as programs, servers([job]) as urls:
        for kind in ("compacted", "whole"):
            for program in programs:
                _install(program, options.megabytes, compacted=kind == "compacted")
            figures: dict[str, list[tuple[float, float, float]]] = {p.name: [] for p in programs}
            for number in range(options.rounds + 1):
                for program in programs if number % 2 else programs[::-1]:
                    measured = _measure(program, urls[job])
                    figures[program.name] += [measured] if number and measured else []
            _report(kind, figures)
    return 0


def records(megabytes: float, *, compacted: bool) -> Iterator[dict[str, Any]]:
    """The records of a made-up session of about that size."""
    words = random.Random(7)
    made, turn, parent = 0, 0, None
    while made < megabytes * 1e6:
        turn += 1
        if compacted and turn % COMPACT_EVERY == 0:
            entries = _compaction(turn, parent)
        else:
            entries = _turn(turn, parent, words)
        for entry in entries:
            parent = entry["uuid"]
            made += len(json.dumps(entry, separators=(",", ":"))) + 1
            yield entry


def _turn(number: int, parent: str | None, words: random.Random) -> list[dict[str, Any]]:
    lines = [f"line {n} of {words.random()}: def value_{n}(self): return {n}" for n in range(60)]
    text = "\n".join(lines)
    call = f"toolu_{number:08d}"
    use = {
        "type": "tool_use",
        "id": call,
        "name": "Read",
        "input": {"file_path": f"/project/file{number}.py"},
    }
    result = {"type": "tool_result", "tool_use_id": call, "content": text}
    file = {"type": "text", "file": {"filePath": "/project/file.py", "content": text, "numLines": 60}}
    chain = [
        _entry("user", number, 0, parent, f"look at part {number}", permissionMode="default"),
        _entry("assistant", number, 1, None, [use]),
        _entry("user", number, 2, None, [result], toolUseResult=file),
        _entry("assistant", number, 3, None, [{"type": "text", "text": f"Part {number} is fine. " * 10}]),
    ]
    for before, entry in pairwise(chain):
        entry["parentUuid"] = before["uuid"]
    return chain


def _compaction(number: int, parent: str | None) -> list[dict[str, Any]]:
    boundary = _entry("system", number, 0, None, None)
    del boundary["message"]
    boundary |= {
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "level": "info",
        "logicalParentUuid": parent,
        "compactMetadata": {"trigger": "auto", "preTokens": 160000},
    }
    summary = _entry("user", number, 1, boundary["uuid"], "Summary of all before.", isCompactSummary=True)
    answer = _entry("assistant", number, 2, summary["uuid"], [{"type": "text", "text": "I go on."}])
    return [boundary, summary, answer]


def _entry(kind: str, turn: int, part: int, parent: str | None, content: Any, **facts: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 10, "output_tokens": 5}
        message |= {"id": f"msg_{turn}_{part}", "type": "message", "model": MODEL, "usage": usage}
        message["stop_reason"] = "end_turn"
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "message": message,
        **facts,
        "uuid": f"{turn:08x}-0000-4000-8000-{part:012x}",
        "timestamp": f"2026-11-15T{turn // 3600 % 24:02d}:{turn // 60 % 60:02d}:{turn % 60:02d}.000Z",
        "userType": "external",
        "entrypoint": "sdk-cli",
        "cwd": "/project",
        "sessionId": SESSION,
        "version": "2.1.325",
        "gitBranch": "main",
    }


def _install(program: Subject, megabytes: float, *, compacted: bool) -> None:
    folder = Path(program.home, ".claude", "projects")
    shutil.rmtree(folder, ignore_errors=True)
    slug = "".join(c if c.isalnum() and c.isascii() else "-" for c in os.path.realpath(program.home))
    path = folder / slug / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("w") as file:
        for record in records(megabytes, compacted=compacted):
            file.write(json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n")


def _measure(program: Subject, url: str) -> tuple[float, float, float] | None:
    """Wall and CPU milliseconds and the memory of a run; one that fails does not count."""
    command, env = program.job(url)
    done = run([*command, "--resume", SESSION], env, program.home)
    if done.exit_code:
        print(
            f"{program.name}: exit code {done.exit_code}: {done.stderr[-300:]!r} {done.stdout[-300:]!r}",
            file=sys.stderr,
        )
        return None
    return done.wall, done.cpu, done.largest


def _report(kind: str, figures: dict[str, list[tuple[float, float, float]]]) -> None:
    best = {name: [min(row[n] for row in rows) for n in range(3)] for name, rows in figures.items()}
    middle = {
        name: [statistics.median(row[n] for row in rows) for n in range(3)] for name, rows in figures.items()
    }
    for n, measure in enumerate(("wall ms", "cpu ms", "largest MB")):
        cells = [f"{name} {best[name][n]:.0f} (median {middle[name][n]:.0f})" for name in figures]
        ratio = ""
        if "reference" in figures:
            ratio = f"ratio {best['forge'][n] / best['reference'][n]:.2f}"
            ratio += f" (of medians {middle['forge'][n] / middle['reference'][n]:.2f})"
        print(f"{kind:<10} {measure:<11}", "   ".join(cells), ratio)


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resume", description=__doc__.split("\n")[0])
    parser.add_argument("--forge", default=installed_forge())
    parser.add_argument("--reference", help="path of the reference CLI")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
