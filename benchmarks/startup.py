"""What it costs to say hello: `forge --version` and `--help` beside an empty Python program."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict

from benchmarks.measure import run
from benchmarks.subject import Subject, installed_forge, subjects
from benchmarks.table import Figures, columns, figures, ratios, table

EMPTY = "python -c pass"


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    samples: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with subjects(options.forge, options.reference) as programs:
        commands = _commands(programs)
        for number in range(options.rounds + 1):
            for name, (command, program) in commands.items():
                done = run(command, program.env, program.home)
                if done.exit_code:
                    print(f"{name} ended with exit code {done.exit_code}", file=sys.stderr)
                elif number:
                    samples[name]["cpu ms"].append(done.cpu)
                    samples[name]["wall ms"].append(done.wall)
    result = {name: figures(samples[name]) for name in commands}
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(table([_row(name, measure, result) for name in result for measure in ("wall ms", "cpu ms")]))
    return 0


def _row(name: str, measure: str, result: dict[str, Figures]) -> dict[str, str]:
    words = {"command": name, "measure": measure}
    return words | columns("", result[name], measure) | ratios(result[name], result[EMPTY], measure)


def _commands(programs: list[Subject]) -> dict[str, tuple[list[str], Subject]]:
    commands = {EMPTY: ([sys.executable, "-c", "pass"], programs[0])}
    for program in programs:
        for flag in ("--version", "--help"):
            commands[f"{program.name} {flag}"] = ([program.program, flag], program)
    return commands


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--forge", default=installed_forge())
    parser.add_argument("--reference", help="path of the reference CLI")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    return parser.parse_known_args(argv)[0]


if __name__ == "__main__":
    sys.exit(main())
