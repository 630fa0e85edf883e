"""Kills scripted sessions at random moments, looks for damage: python -m benchmarks.crash [ROUNDS [SEED]]."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("tests", "src")]

import crash  # noqa: E402  # found through the line above


def main() -> int:
    """Runs the rounds and prints what was found."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    base = Path(tempfile.mkdtemp(prefix="forge-crash-"))
    script = crash.scenario(base / "thirty-calls.json")
    started = time.monotonic()
    crash.run_and_kill(base / "whole", script, None)
    whole = (time.monotonic() - started) * 1000
    broken = stuck = 0
    for number, moment in enumerate(crash.moments(rounds, whole, seed)):
        place = base / str(number)
        crash.run_and_kill(place, script, moment)
        found = crash.damage(place)
        resumed = crash.resumes(place, script)
        broken += bool(found)
        stuck += not resumed
        if found or not resumed:
            print(f"round {number}, killed after {moment:.0f} ms: {found or 'does not resume'} ({place})")
        else:
            shutil.rmtree(place, ignore_errors=True)
    print(f"{rounds} kills within {whole:.0f} ms: {broken} damaged, {stuck} not resumable")
    return 1 if broken or stuck else 0


if __name__ == "__main__":
    sys.exit(main())
