"""Reads an image as a block the model can look at."""

from __future__ import annotations

import base64
from typing import Any

from forge.core.amount import human_size
from forge.core.message import Block, Image, Source
from forge.core.pictures import MAX_BYTES, image_type
from forge.core.tool import ToolError

# What model APIs accept on a side.
_MAX_SIDE = 8000


def read(shown: str, path: str, pages: str) -> tuple[list[Block], dict[str, Any]]:
    """The image as a block and as a record; `pages` has no meaning here."""
    with open(path, "rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if not raw:
        raise ToolError(f"Image file is empty: {shown}")
    media_type = image_type(raw[:16])
    if not media_type:
        raise ToolError(_not_an_image(shown, raw))
    width, height = dimensions(media_type, raw)
    if len(raw) > MAX_BYTES or max(width, height) > _MAX_SIDE:
        raise ToolError(
            f"Image is too large to show: {shown} is {width}x{height} pixels. The limits are "
            f"{human_size(MAX_BYTES)} and {_MAX_SIDE} pixels on a side. Make a smaller copy first (for "
            "example with ImageMagick: convert IN -resize 2000x2000 OUT) and read that."
        )
    data = base64.b64encode(raw).decode("ascii")
    sides = {
        "originalWidth": width,
        "originalHeight": height,
        "displayWidth": width,
        "displayHeight": height,
    }
    record = {"base64": data, "type": media_type, "originalSize": len(raw), "dimensions": sides}
    return [Image(Source("base64", media_type, data))], {"type": "image", "file": record}


def dimensions(media_type: str, raw: bytes) -> tuple[int, int]:
    """Width and height from the header; zeros when it does not say."""
    if media_type == "image/png":
        return _big(raw[16:20]), _big(raw[20:24])
    if media_type == "image/gif":
        return _little(raw[6:8]), _little(raw[8:10])
    return _webp(raw) if media_type == "image/webp" else _jpeg(raw)


def _webp(raw: bytes) -> tuple[int, int]:
    kind = raw[12:16]
    if kind == b"VP8 ":
        return _little(raw[26:28]) & 0x3FFF, _little(raw[28:30]) & 0x3FFF
    if kind == b"VP8L":
        bits = _little(raw[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return (_little(raw[24:27]) + 1, _little(raw[27:30]) + 1) if kind == b"VP8X" else (0, 0)


def _jpeg(raw: bytes) -> tuple[int, int]:
    position = 2
    while position + 9 < len(raw) and raw[position] == 0xFF:
        marker = raw[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _big(raw[position + 7 : position + 9]), _big(raw[position + 5 : position + 7])
        position += 2 + _big(raw[position + 2 : position + 4])
    return 0, 0


def _big(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def _little(raw: bytes) -> int:
    return int.from_bytes(raw, "little")


def _not_an_image(shown: str, raw: bytes) -> str:
    start = raw[:60].decode("utf-8", "replace").strip()
    if start.lower().startswith(("<!doctype html", "<html")):
        found = f'HTML document (starts with "{start}")'
    else:
        found = f"unrecognized bytes (hex: {raw[:8].hex(' ')})"
    return (
        f"File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected: {found}. "
        "This usually means a download saved an error/login page instead of the image. Use "
        f'`file "{shown}"` to confirm, or read it as text with Bash (e.g. `head -c 500`).'
    )
