"""Compaction as stream-json records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent.event import Compacted, Compacting, CompactionSkipped

Record = dict[str, Any]


def started(e: Compacting, system: Callable[..., Record]) -> list[Record]:
    """The summary is being written."""
    return [system("status", status="compacting", compact_output_chars=None if e.trigger == "manual" else 0)]


def skipped(e: CompactionSkipped, system: Callable[..., Record]) -> list[Record]:
    """There will be no summary."""
    why = e.why if e.failed else f"skipped: {e.why}"
    return [system("status", status=None, compact_result="failed", compact_error=why)]


def done(
    e: Compacted, system: Callable[..., Record], user: Callable[..., Record], init: Callable[[], Record]
) -> list[Record]:
    """The boundary and the summary that stands for everything before it."""
    facts, manual = e.facts, e.facts["trigger"] == "manual"
    metadata = {
        "trigger": facts["trigger"],
        "pre_tokens": facts["preTokens"],
        "post_tokens": facts["postTokens"],
        "cumulative_dropped_tokens": facts["cumulativeDroppedTokens"],
        "duration_ms": facts["durationMs"],
    }
    boundary = system("compact_boundary", compact_metadata=metadata, logical_parent_uuid=e.logical_parent)
    return [
        system("status", status=None, compact_result="success"),
        *([init()] if manual else []),
        {**boundary, "uuid": e.boundary_uuid},
        user(
            e.summary if manual else [{"type": "text", "text": e.summary}], e.summary_uuid, isSynthetic=True
        ),
    ]
