"""Where the part of a transcript begins that a compacted conversation still needs.

Long sessions are compacted many times; what came before the last time need not even be looked at. Found by
the text of the records, from the end: whoever uses it checks what it found or reads the whole file.
"""

from __future__ import annotations

import os

# What a compaction left standing was written shortly before it.
_WINDOW = 2 * 1024 * 1024
_BLOCK = 1024 * 1024
_BOUNDARY = b'"subtype":"compact_boundary"'
_STATES = (b'"type":"file-history-snapshot"', b'"type":"cost-state"')


def recent_start(path: str) -> int:
    """The place of the first line that may be needed; 0 when all are."""
    with open(path, "rb", buffering=0) as file:
        descriptor = file.fileno()
        size = os.fstat(descriptor).st_size
        start = _last(descriptor, size, _BOUNDARY) - _WINDOW
        if start <= 0:
            return 0
        for mark in _STATES:
            found = _last(descriptor, size, mark)
            start = min(start, found) if found >= 0 else start
        return _last(descriptor, start, b"\n") + 1


def _last(descriptor: int, end: int, mark: bytes) -> int:
    """Where a text occurs last before `end`, -1 if nowhere."""
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(descriptor, end - start, start).rfind(mark)
        if found >= 0:
            return start + found
        # The next block overlaps by what could have been cut.
        end = start + len(mark) - 1 if start else 0
    return -1
