"""Starting sub-agents, Forge beside the reference CLI: python -m benchmarks.subagent [--reference PATH].

The scripted server takes the time: from its answer that asks for an agent to that agent's first request.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

from benchmarks.jobs import DONE
from benchmarks.measure import run
from benchmarks.subject import TESTS, Subject, installed_forge, subjects

sys.path.insert(0, str(TESTS))

from fakemodel import Server, serve  # found through the line above

AGENTS = 5
_MARK = "[[part]]"


class Clock:
    """The scripted model: asks for one agent after the other and notes how long each took to start."""

    def __init__(self) -> None:
        self.starts: list[float] = []
        self._asked = 0.0

    def decide(self, body: dict[str, Any]) -> dict[str, Any]:
        """The next turn of a conversation."""
        messages = body["messages"]
        if _MARK in str(messages[0]):
            self.starts.append((time.perf_counter() - self._asked) * 1e3)
            return {"blocks": [{"text": "part done"}]}
        done = sum(message["role"] == "assistant" for message in messages)
        if done >= AGENTS:
            return {"blocks": [{"text": DONE}]}
        given = {"description": "a part", "prompt": f"{_MARK} Do it.", "subagent_type": "general-purpose"}
        self._asked = time.perf_counter()
        return {"blocks": [{"tool": "Agent", "input": {**given, "run_in_background": False}}]}


def main() -> int:
    options = _options()
    figures: dict[str, dict[str, list[float]]] = {}
    with subjects(options.forge, options.reference) as programs, serve([]) as server:
        for number in range(options.rounds + 1):
            for program in programs if number % 2 else programs[::-1]:
                measured = _measure(program, server)
                for name, values in measured.items() if number else ():
                    figures.setdefault(name, {}).setdefault(program.name, []).extend(values)
    for name, by_program in figures.items():
        middle = {program: statistics.median(values) for program, values in by_program.items()}
        cells = [f"{program} {value:.1f}" for program, value in middle.items()]
        ratio = f"ratio {middle['forge'] / middle['reference']:.2f}" if "reference" in middle else ""
        print(f"{name:<28}", "   ".join(cells), ratio)
    return 0


def _measure(program: Subject, server: Server) -> dict[str, list[float]]:
    clock = Clock()
    server.decide = clock.decide
    command, env = program.job(server.url)
    done = run([*command, "--allowedTools", "Agent,Task"], env, program.home)
    if done.exit_code or DONE.encode() not in done.stdout or len(clock.starts) != AGENTS:
        told = f"{done.stderr[-300:]!r} {done.stdout[-300:]!r}"
        print(f"{program.name}: {len(clock.starts)} agents, {done.exit_code}: {told}", file=sys.stderr)
        return {}
    return {
        "start of an agent, ms": clock.starts,
        "start of the first, ms": clock.starts[:1],
        f"job with {AGENTS} agents, wall ms": [done.wall],
        f"job with {AGENTS} agents, CPU ms": [done.cpu],
        "largest process, MB": [done.largest],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.subagent", description=__doc__)
    parser.add_argument("--forge", default=installed_forge())
    parser.add_argument("--reference", help="path of the reference CLI")
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
