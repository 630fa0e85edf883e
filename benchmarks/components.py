"""What components cost a run: one answer of `forge -p` with nothing, and with 20 plugins of 100 skills.

Run: python -m benchmarks.components
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.discovery import make
from benchmarks.measure import run
from benchmarks.subject import TESTS

sys.path.insert(0, str(TESTS))

from fakemodel import serve  # found through the line above
from forge_run import MODEL, environment  # likewise

PLUGINS, SKILLS = 20, 5
LIMIT = 1.3


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.components", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    homes = {"nothing": tempfile.mkdtemp(), "20 plugins": tempfile.mkdtemp()}
    try:
        make(homes["20 plugins"], PLUGINS, SKILLS)
        _quieten(Path(homes["20 plugins"]))
        found = measured(homes, options.rounds)
    finally:
        for home in homes.values():
            shutil.rmtree(home)
    medians = {name: statistics.median(times) for name, times in found.items()}
    ratio = medians["20 plugins"] / medians["nothing"]
    if options.json:
        print(json.dumps({"cpu_ms": medians, "ratio": ratio}, indent=2))
    else:
        for name, cpu in medians.items():
            print(f"{name:<12} {cpu:7.1f} ms CPU")
        print(f"ratio        {ratio:7.2f} (limit {LIMIT})")
    return 0


def _quieten(home: Path) -> None:
    """Nothing of the plugins is run: what hooks and servers do is not a cost of loading them."""
    for file in home.glob("**/.mcp.json"):
        file.unlink()
    for file in home.glob("**/hooks.json"):
        file.write_text(file.read_text("utf-8").replace('"Stop"', '"PreCompact"'), "utf-8")


def measured(homes: dict[str, str], rounds: int) -> dict[str, list[float]]:
    """CPU times of both runs, taken in turns so that they share whatever else the machine does."""
    command = [sys.executable, "-m", "forge", "-p", "go", "--model", MODEL]
    times: dict[str, list[float]] = {name: [] for name in homes}
    with serve([[{"text": "done"}]] * (2 * rounds + 4)) as server:
        for number in range(rounds + 1):
            for name, home in homes.items():
                done = run(command, environment(Path(home), server.url), home)
                if done.exit_code:
                    raise SystemExit(done.stderr.decode("utf-8", "replace"))
                if number:
                    times[name].append(done.cpu)
    return times


if __name__ == "__main__":
    sys.exit(main())
