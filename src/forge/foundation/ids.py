"""Identifiers and timestamps in the spelling of transcripts and the SDK protocol, without the uuid module."""

from __future__ import annotations

import os
import time


def new_uuid() -> str:
    """A random (version 4) UUID."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_uuid(text: str) -> bool:
    """Whether `text` is spelled like a UUID."""
    parts = text.split("-")
    return [len(p) for p in parts] == [8, 4, 4, 4, 12] and all(
        c in "0123456789abcdefABCDEF" for p in parts for c in p
    )


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds, as transcripts have it."""
    whole = int(seconds)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int((seconds - whole) * 1000):03d}Z"
