"""Whether processes of a test are really gone."""

from __future__ import annotations

import os
import select


def is_gone(pid: int) -> bool:
    """Whether a process ends within the time a test may take."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 2)[0])
    finally:
        os.close(descriptor)
