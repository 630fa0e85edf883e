"""Results of servers that are too large for the conversation: the model gets their beginning and a file."""

from __future__ import annotations

import os

import msgspec

from forge.agent.context import CallContext
from forge.core.mcp.port import Offer
from forge.core.message import Block, Text

MOST = 50_000
MOST_OF_ALL = 500_000
_PREVIEW = 2_000


def shortened(told: str | list[Block], offer: Offer, context: CallContext) -> str | list[Block]:
    """The result itself, or what stands for it; a tool may say that more of it is to be shown."""
    wanted = offer.meta.get("anthropic/maxResultSizeChars")
    most = min(wanted, MOST_OF_ALL) if isinstance(wanted, int) and wanted > 0 else MOST
    if _length(told) <= most:
        return told
    ending, whole = ("txt", told) if isinstance(told, str) else ("json", _pretty(told))
    path = os.path.join(context.results_dir, f"{context.call.id}.{ending}")
    try:
        os.makedirs(context.results_dir, mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(whole)
        where = f"Full output saved to: {path}"
    except OSError as error:
        where = f"It could not be saved: {error.strerror}"
    return (
        f"<persisted-output>\nOutput too large ({len(whole) / 1024:.1f}KB). {where}\n\n"
        f"Preview (first 2KB):\n{whole[:_PREVIEW]}\n...\n</persisted-output>"
    )


def _length(told: str | list[Block]) -> int:
    if isinstance(told, str):
        return len(told)
    return sum(len(block.text) for block in told if isinstance(block, Text))


def _pretty(blocks: list[Block]) -> str:
    return msgspec.json.format(msgspec.json.encode(blocks), indent=2).decode()
