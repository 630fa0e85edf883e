"""What makes bytes an image that models can look at."""

from __future__ import annotations

import base64
import binascii
import re

from forge.core.message import Image, Source

_DATA_URI = re.compile(r"data:image/[a-z0-9.+_-]+;base64,([A-Za-z0-9+/]+={0,2})", re.IGNORECASE)
# What model APIs accept: 5 MB of base64.
MAX_BYTES = 5 * 1024 * 1024 * 3 // 4


def image_type(head: bytes) -> str:
    """The media type of an image by its first bytes, or ""."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else ""


def printed_image(text: str) -> Image | None:
    """The image that a text is, if it is nothing but the data URI of one."""
    match = _DATA_URI.fullmatch(text.strip())
    if match is None:
        return None
    try:
        raw = base64.b64decode(match[1], validate=True)
    except binascii.Error:
        return None
    kind = image_type(raw[:16])
    return Image(Source("base64", kind, match[1])) if kind and len(raw) <= MAX_BYTES else None
