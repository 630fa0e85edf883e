"""Which state of a file the model has seen; decides whether it may write to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from forge.core.tool import FileStamp


def stamp(status: os.stat_result, content: bytes | None, *, partial: bool = False) -> FileStamp:
    """The state of a file; without its content (too large) any later change of its times counts."""
    digest = hashlib.blake2b(content, digest_size=16).hexdigest() if content is not None else ""
    return FileStamp(status.st_mtime_ns, status.st_size, digest, partial)


def changed(known: FileStamp, status: os.stat_result, read: Callable[[], bytes]) -> bool:
    """Whether a file differs from what was seen; a new time with the old content does not count."""
    if known.mtime_ns == status.st_mtime_ns and known.size == status.st_size:
        return False
    if known.partial or not known.digest or known.size != status.st_size:
        return True
    return stamp(status, read()).digest != known.digest
