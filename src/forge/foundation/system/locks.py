"""One lock per directory for writers, and the functions of the platform that writing a file needs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    from forge.foundation.system.windows import (
        DEFAULT_TEMP,
        MANAGED_DIRS,
        copy_owner,
        give_name,
        open_unnamed,
        replace,
        try_lock,
        unlock,
    )
else:
    from forge.foundation.system.posix import (
        DEFAULT_TEMP,
        MANAGED_DIRS,
        copy_owner,
        give_name,
        open_unnamed,
        replace,
        try_lock,
        unlock,
    )

__all__ = [
    "DEFAULT_TEMP",
    "MANAGED_DIRS",
    "copy_owner",
    "give_name",
    "locked",
    "open_unnamed",
    "replace",
    "try_lock",
    "unlock",
]


@contextmanager
def locked(directory: str, timeout: float = 10.0) -> Iterator[None]:
    """Holds the writers' lock of a directory; TimeoutError when another process keeps it too long."""
    deadline = time.monotonic() + timeout
    pause = 0.001
    while (descriptor := try_lock(directory)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{directory} is locked by another process")
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
    try:
        yield
    finally:
        unlock(descriptor)
