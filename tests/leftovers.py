"""What tests leave running: the processes below this one, without those that many tests share."""

from __future__ import annotations

import os
from pathlib import Path

from forge.foundation.system.process import descendants

SHARED = (b"system.keeper import serve", b"warm_server.py", b"far_server.py")


def left_running() -> list[int]:
    """The processes below this one that a test has to answer for."""
    found = descendants(os.getpid())
    kept = {pid for shared in found if _is_shared(shared) for pid in (shared, *descendants(shared))}
    return [pid for pid in found if pid not in kept]


def _is_shared(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return any(word in words for word in SHARED)
