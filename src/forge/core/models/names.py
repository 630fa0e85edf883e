"""Tool names and call ids on the wire: at most 64 characters of A-Z, a-z, 0-9, _ and -."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterable

LONGEST = 64


def wire_name(name: str) -> str:
    """The name itself where it fits, else a shortened one with a hash; always the same for the same name."""
    return name if _fits(name) else _replaced(name)


def names_back(names: Iterable[str]) -> dict[str, str]:
    """The changed names of these tools, as the model will say them, with the real ones."""
    return {wire_name(name): name for name in names if not _fits(name)}


def _fits(name: str) -> bool:
    if len(name) > LONGEST or not name.isascii():
        return False
    return name.isidentifier() or name.replace("_", "a").replace("-", "a").isalnum()


def _replaced(name: str) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name)
    return f"{plain[: LONGEST - 9]}_{crc32(name.encode()):08x}"


def short_id(call_id: str) -> str:
    """A call id of exactly nine letters and digits, which is all some servers accept."""
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return f"c{crc32(call_id.encode()):08x}"
