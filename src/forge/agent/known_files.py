"""What a resumed conversation knows: files it has seen that have not changed since, and whether it plans."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forge.core.tool import FileStamp
from forge.foundation.history.transcript import Record
from forge.foundation.ids import timestamp

_SEEING = frozenset({"Read", "Edit", "Write", "NotebookEdit"})
_PLANNING = {"plan_mode": True, "plan_mode_exit": False, "EnterPlanMode": True, "ExitPlanMode": False}


class Known(msgspec.Struct, frozen=True):
    """When a file was last seen, and whether only a part of it."""

    when: str
    partial: bool


class KnownFiles:
    """Looks at records as they pass and remembers the files whose reading or writing succeeded.

    `planning`: the last that was said of plan mode is that it is on.
    """

    def __init__(self) -> None:
        self.found: dict[str, Known] = {}
        self.planning = False
        self._calls: dict[str, tuple[str, bool]] = {}
        self._turns: dict[str, bool] = {}

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, unchanged."""
        for record in records:
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict):
                    self._note(block, record.get("timestamp"))
            attached = record.get("attachment")
            if isinstance(attached, dict):
                self.planning = _PLANNING.get(str(attached.get("type")), self.planning)
            yield record

    def _note(self, block: dict[str, Any], when: Any) -> None:
        kind = block.get("type")
        if kind == "tool_use" and str(block.get("name")) in _SEEING:
            raw = block.get("input")
            given: dict[str, Any] = raw if isinstance(raw, dict) else {}
            path = given.get("file_path") or given.get("notebook_path")
            if isinstance(path, str) and os.path.isabs(path):
                partial = given.get("offset") is not None or given.get("limit") is not None
                self._calls[str(block.get("id"))] = (os.path.normpath(path), partial)
        elif kind == "tool_use" and str(block.get("name")) in _PLANNING:
            self._turns[str(block.get("id"))] = _PLANNING[str(block.get("name"))]
        elif kind == "tool_result":
            turned = self._turns.pop(str(block.get("tool_use_id")), None)
            if turned is not None and block.get("is_error") is not True:
                self.planning = turned
            call = self._calls.pop(str(block.get("tool_use_id")), None)
            if call is not None and block.get("is_error") is not True and isinstance(when, str):
                self.found[call[0]] = Known(when, call[1])


def unchanged(found: dict[str, Known]) -> dict[str, FileStamp]:
    """The files that are still as the conversation has seen them."""
    stamps: dict[str, FileStamp] = {}
    for path, known in found.items():
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        if timestamp(status.st_mtime) <= known.when:
            stamps[path] = FileStamp(status.st_mtime_ns, status.st_size, "", known.partial)
    return stamps
