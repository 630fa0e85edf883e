"""Whether a process that left its number in a file is still the one that runs."""

from __future__ import annotations

import os
import sys


def process_start(pid: int) -> int:
    """When a process was started, in ticks of the system; 0 where that is not known."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in brackets may contain anything, so count from its end.
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def is_alive(pid: int, start: int = 0) -> bool:
    """Whether the process runs; with `start` only if it is the same one. Unknown counts as running."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    now = process_start(pid)
    return not start or not now or now == start
