"""Deletes what sessions leave behind when nobody has used it for a long time, as the reference does.

Links are removed, never followed. A file that cannot be deleted stays for the next time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from forge.foundation.history.checkpoints import history_dir
from forge.foundation.ids import timestamp

DAY = 86_400.0
DEFAULT_DAYS = 30
# The reference looks at the age of the same file, so the two do not do the work twice.
MARK = ".last-cleanup"


def is_due(claude_dir: str, now: float) -> bool:
    """Whether the last tidying was a day ago; there is nothing to do where no session was ever recorded."""
    try:
        return now - os.stat(os.path.join(claude_dir, MARK)).st_mtime >= DAY
    except OSError:
        return os.path.isdir(os.path.join(claude_dir, "projects"))


def sweep(claude_dir: str, now: float, days: int, keep: str) -> list[str]:
    """Deletes what is older than `days`, except what belongs to the session `keep`; returns the sessions."""
    with suppress(OSError), open(os.path.join(claude_dir, MARK), "w", encoding="ascii") as file:
        file.write(timestamp(now))
    before = now - days * DAY
    gone: list[str] = []
    alive = {keep}
    for project in list(_folders(os.path.join(claude_dir, "projects"))):
        gone += _sweep_project(claude_dir, project.path, before, keep)
        alive |= {entry.name.removesuffix(".jsonl") for entry in _entries(project.path)}
    for kind in ("file-history", "tasks"):
        for folder in _folders(os.path.join(claude_dir, kind)):
            if folder.name not in alive and _newest(folder.path) < before:
                remove_tree(folder.path)
    _sweep_files(os.path.join(claude_dir, "plans"), before)
    return gone


def remove_session(claude_dir: str, path: str) -> None:
    """Deletes a transcript with its large outputs, sub-agents and file checkpoints.

    The transcript goes last: what an interrupted deletion leaves is still listed and can be deleted again.
    """
    folder = path.removesuffix(".jsonl")
    remove_tree(folder)
    remove_tree(history_dir(claude_dir, os.path.basename(folder)))
    with suppress(FileNotFoundError):
        os.unlink(path)


def remove_tree(path: str) -> None:
    """Deletes a folder and everything in it, as far as possible; of a link only the link."""
    with suppress(OSError):
        if os.path.islink(path):
            os.unlink(path)
            return
    for folder, inner, files in os.walk(path, topdown=False):
        for name in files:
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
        for name in inner:
            # A link to a folder is listed among the folders.
            _remove_empty(os.path.join(folder, name))
    _remove_empty(path)


def _sweep_project(claude_dir: str, project: str, before: float, keep: str) -> list[str]:
    gone: list[str] = []
    for entry in _entries(project):
        if not entry.name.endswith(".jsonl") or entry.name == f"{keep}.jsonl" or _age(entry) >= before:
            continue
        with suppress(OSError):
            remove_session(claude_dir, entry.path)
            gone.append(entry.name.removesuffix(".jsonl"))
    for folder in _folders(project):
        if folder.name in ("memory", keep):
            continue
        if os.path.exists(f"{folder.path}.jsonl"):
            _sweep_files(os.path.join(folder.path, "tool-results"), before)
        elif _is_session(folder.path) and _newest(folder.path) < before:
            remove_tree(folder.path)
    _remove_empty(project)
    return gone


def _sweep_files(folder: str, before: float) -> None:
    for entry in _entries(folder):
        if not entry.is_dir(follow_symlinks=False) and _age(entry) < before:
            with suppress(OSError):
                os.unlink(entry.path)
    _remove_empty(folder)


def _is_session(folder: str) -> bool:
    return any(os.path.isdir(os.path.join(folder, name)) for name in ("tool-results", "subagents"))


def _newest(folder: str) -> float:
    """When something in a folder was changed last; the folder itself counts if it is empty."""
    found = [os.path.join(place, name) for place, _, files in os.walk(folder) for name in files]
    times = [0.0]
    for path in found or [folder]:
        with suppress(OSError):
            times.append(os.lstat(path).st_mtime)
    return max(times)


def _folders(path: str) -> Iterator[os.DirEntry[str]]:
    return (entry for entry in _entries(path) if entry.is_dir(follow_symlinks=False))


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _age(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return float("inf")


def _remove_empty(path: str) -> None:
    with suppress(OSError):
        if os.path.islink(path):
            os.unlink(path)
        else:
            os.rmdir(path)
