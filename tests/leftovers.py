"""What tests leave running: the processes below this one, without the keepers that other tests share."""

from __future__ import annotations

import os
from pathlib import Path

from forge.foundation.system.process import descendants


def left_running() -> list[int]:
    """The processes below this one that a test has to answer for."""
    found = descendants(os.getpid())
    kept = {pid for keeper in found if _is_keeper(keeper) for pid in (keeper, *descendants(keeper))}
    return [pid for pid in found if pid not in kept]


def _is_keeper(pid: int) -> bool:
    try:
        return b"system.keeper import serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
