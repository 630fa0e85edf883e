"""Memory that comes in when a file is touched: files of directories on the way, scoped rules."""

from __future__ import annotations

import os
from collections.abc import Collection

import msgspec

from forge.core.memory.file import MemoryFile
from forge.core.memory.read import Library
from forge.core.memory.sources import (
    MemoryRequest,
    lineage,
    managed_and_user_rules,
    nested_project_files,
    reading_agents,
    rules,
)


def load_nested(
    request: MemoryRequest, library: Library, target: str, known: Collection[str]
) -> list[MemoryFile]:
    """What touching `target` brings in, apart from the files in `known`."""
    if not request.files:
        return []
    reading = request.reading(library)
    found = managed_and_user_rules(request, reading, target)
    for directory in below(request.cwd, target):
        found += [_nested(f) for f in nested_project_files(directory, request, reading)]
        found += rules(directory, request, request.reading(library), scoped=True, target=target)
    for directory in lineage(request.cwd):
        found += rules(directory, request, request.reading(library), scoped=True, target=target)
    new = {f.path: msgspec.structs.replace(f, trigger=target) for f in found if f.path not in known}
    return list(new.values())


def load_nested_agents(
    request: MemoryRequest, library: Library, target: str, known: Collection[str]
) -> list[MemoryFile]:
    """The AGENTS.md files on the way to `target`, where there is no CLAUDE.md beside them."""
    if not request.files or "project" not in request.sources:
        return []
    reading = request.reading(library)
    found: list[MemoryFile] = []
    for directory in below(request.cwd, target):
        if request.agents == "both" or not nested_claude_md(directory, request, library):
            found += [_nested(f) for f in reading_agents(directory, request, reading)]
    return [msgspec.structs.replace(f, trigger=target) for f in found if f.path not in known]


def nested_claude_md(directory: str, request: MemoryRequest, library: Library) -> bool:
    """Whether a directory has a CLAUDE.md with content."""
    return bool(request.reading(library).with_imports(os.path.join(directory, "CLAUDE.md"), "Project"))


def below(cwd: str, target: str) -> list[str]:
    """The directories strictly below `cwd` down to the one that holds `target`."""
    folder = os.path.dirname(target)
    if not folder.startswith(cwd.rstrip(os.sep) + os.sep):
        return []
    return [d for d in lineage(folder) if len(d) > len(cwd)]


def _nested(file: MemoryFile) -> MemoryFile:
    reason = "include" if file.parent else "nested_traversal"
    return msgspec.structs.replace(file, load_reason=reason)
