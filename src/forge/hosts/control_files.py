"""Requests about files: reading one, naming some, the output of jobs, what the model has seen."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import Any

from forge.agent.background import Background
from forge.core.seen import stamp
from forge.foundation.permissions.decide import decide
from forge.hosts.control_seat import Refused, Request, Seat

# Answers are single lines, and SDKs read lines of up to one megabyte.
_MOST_BYTES = 256 * 1024
_TAIL = 8 * 1024
_SUGGESTIONS = 15
_MOST_ENTRIES = 20_000
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})


def read_file(seat: Seat, request: Request) -> dict[str, Any]:
    """The beginning of a file the model may read, too."""
    name = seat.text(request, "path")
    path = _absolute(seat, name)
    wanted = request.get("max_bytes")
    most = min(wanted, _MOST_BYTES) if isinstance(wanted, int) and wanted > 0 else _MOST_BYTES
    denied = Refused(f"read denied: {name}")
    if decide("Read", {"file_path": path}, seat.session.situation).verdict != "allow":
        raise denied
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError:
        raise denied from None
    answer: dict[str, Any] = {"absPath": path, "requested_path": name}
    if len(data) > most:
        data, answer["truncated"] = data[:most], True
    if request.get("encoding") == "base64":
        return {"contents": base64.b64encode(data).decode(), "encoding": "base64", **answer}
    text = data.decode("utf-8", "replace")
    return {"contents": text, "lossy": text.encode() != data, **answer}


def seed_read_state(seat: Seat, request: Request) -> None:
    """Counts a file as seen by the model, if it still is what the host saw."""
    path = _absolute(seat, seat.text(request, "path"))
    mtime = request.get("mtime")
    try:
        status = os.stat(path)
        if isinstance(mtime, int | float) and status.st_mtime_ns // 1_000_000 <= int(mtime):
            with open(path, "rb") as file:
                seat.session.seen[path] = stamp(status, file.read())
    except OSError:
        return


def file_suggestions(seat: Seat, request: Request) -> dict[str, Any]:
    """Files whose path has the letters of the query, those with the query in their name first."""
    root = seat.session.situation.start_dir
    query = str(request.get("query") or "").lower()
    depth = 1 if not query else 32
    found = [path for path in _entries(root, depth) if _matches(query, path.lower())]
    found.sort(key=lambda path: (query not in os.path.basename(path.rstrip("/")).lower(), len(path), path))
    return {"suggestions": [{"path": path} for path in found[:_SUGGESTIONS]], "cwd": root}


def get_task_output(seat: Seat, request: Request) -> dict[str, Any]:
    """The end of what a background job has written."""
    jobs = {view.id: view for view in seat.session.keep(Background).views()}
    view = jobs.get(str(request.get("task_id")))
    if view is None or not view.output_path:
        raise Refused("get_task_output: no shell or Monitor task with that task_id in this session")
    try:
        with open(view.output_path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            output = file.read().decode("utf-8", "replace")
    except OSError:
        size, output = 0, ""
    return {"output": output, "total_bytes": size, "truncated": size > _TAIL}


def _absolute(seat: Seat, name: str) -> str:
    return os.path.normpath(os.path.join(seat.session.situation.cwd, os.path.expanduser(name)))


def _entries(root: str, depth: int) -> Iterator[str]:
    seen = 0
    for folder, names, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == "." else f"{inside}{os.sep}"
        level = prefix.count(os.sep) + 1
        names[:] = sorted(n for n in names if n not in _SKIPPED)
        yield from (f"{prefix}{name}/" for name in names)
        yield from (f"{prefix}{name}" for name in sorted(files))
        seen += len(names) + len(files)
        if level >= depth:
            names.clear()
        if seen > _MOST_ENTRIES:
            return


def _matches(query: str, path: str) -> bool:
    """Whether all letters of the query are in the path, in their order."""
    rest = iter(path)
    return all(letter in rest for letter in query)
