"""How long a foreign agent waits for the guard, as multiples of `python -c pass` in the same run.

Usage: python -m benchmarks.guard [RUNS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "scripts" / "forgecmd")
BARS = {"cold": 5.0, "daemon": 1.5}


def main() -> int:
    """Prints both ratios; the exit code says whether they hold."""
    runs = int(sys.argv[1]) if sys.argv[1:] else 60
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "src")], check=False)
    command = {"command": "git status && ls -la src | head -5"}
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(ROOT), "tool_input": command}
    raw = json.dumps(event).encode()
    with tempfile.TemporaryDirectory() as alone, tempfile.TemporaryDirectory() as resident:
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src")}
        subjects = {
            "python -c pass": ([sys.executable, "-c", "pass"], {**env, "HOME": alone}),
            "cold": ([sys.executable, SCRIPT, "hook"], {**env, "HOME": alone}),
            "daemon": ([sys.executable, SCRIPT, "hook", "--daemon"], {**env, "HOME": resident}),
        }
        _wait_for_daemon(subjects["daemon"], raw, resident)
        times = _measured(subjects, raw, runs)
    floor = times["python -c pass"]
    sys.stdout.write(f"python -c pass: {floor * 1000:.1f} ms\n")
    for name, bar in BARS.items():
        ratio = times[name] / floor
        sys.stdout.write(f"{name}: {times[name] * 1000:.1f} ms = {ratio:.2f} x (bar {bar} x)\n")
    return 0 if all(times[name] <= bar * floor for name, bar in BARS.items()) else 1


def _wait_for_daemon(subject: tuple[list[str], dict[str, str]], raw: bytes, home: str) -> None:
    argv, env = subject
    subprocess.run(argv, input=raw, env=env, check=True, capture_output=True)
    deadline = time.monotonic() + 10
    while not (Path(home) / ".forge/run/guard.sock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def _measured(
    subjects: dict[str, tuple[list[str], dict[str, str]]], raw: bytes, runs: int
) -> dict[str, float]:
    """The shortest of many runs of each, taken in turn."""
    best = dict.fromkeys(subjects, 1e9)
    for _ in range(runs):
        for name, (argv, env) in subjects.items():
            begun = time.perf_counter()
            subprocess.run(argv, input=raw, env=env, check=True, capture_output=True)
            best[name] = min(best[name], time.perf_counter() - begun)
    return best


if __name__ == "__main__":
    sys.exit(main())
