"""Hooks that misbehave: python -m benchmarks.hooks_faults. Time and peak memory of whole jobs.

Whether something is left running afterwards is told too: it is looked for in /proc by its working directory.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.jobs import DONE
from benchmarks.measure import run
from benchmarks.subject import TESTS, Subject, installed_forge, subjects

sys.path.insert(0, str(TESTS))

from fakemodel import serve  # found through the line above

FAULTS: dict[str, list[dict[str, Any]]] = {
    "one that is fine": [{"command": "true"}],
    "100 MB on stdout": [{"command": "head -c 100000000 /dev/zero | tr '\\0' x"}],
    "100 MB on stderr, exit 2": [{"command": "head -c 100000000 /dev/zero | tr '\\0' x >&2; exit 2"}],
    "100 MB of a JSON string": [
        {"command": "printf '{\"systemMessage\":\"'; head -c 100000000 /dev/zero | tr '\\0' x; printf '\"}'"}
    ],
    "100 MB of binary": [{"command": "head -c 100000000 /dev/urandom"}],
    "ten times 20 MB": [{"command": f": {n}; head -c 20000000 /dev/zero"} for n in range(10)],
    "300 at once": [{"command": f"echo {n} > /dev/null"} for n in range(300)],
    "100 that hang": [{"command": f"sleep {n + 60} & wait", "timeout": 0.3} for n in range(100)],
}


def play(subject: Subject, hooks: list[dict[str, Any]]) -> tuple[float, float, int]:
    """Milliseconds, peak megabytes of the largest process, and how many processes are left."""
    settings = {"PreToolUse": [{"hooks": [{"type": "command", **hook} for hook in hooks]}]}
    Path(subject.home, ".claude").mkdir(exist_ok=True)
    Path(subject.home, ".claude", "settings.json").write_text(json.dumps({"hooks": settings}))
    file = Path(subject.home, "a.txt")
    file.write_text("a\n")
    with serve([[{"tool": "Read", "input": {"file_path": str(file)}}], [{"text": DONE}]]) as server:
        ended = run(*subject.job(server.url), subject.home, timeout=60)
    assert DONE.encode() in ended.stdout, ended
    return ended.wall, ended.largest, len(left(subject.home))


def left(folder: str) -> list[str]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd") == folder:
                found.append(name)
        except OSError:
            continue
    return found


def main() -> int:
    with subjects(installed_forge(), None) as (forge,):
        for name, hooks in FAULTS.items():
            wall, largest, still = play(forge, hooks)
            print(f"{name:26} {wall:8.0f} ms {largest:8.1f} MB   {still} left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
