"""`forge memory`: which instruction files a run starts with, in order, and why others are not used."""

from __future__ import annotations

from typing import Any

from forge.core.memory.approval import approve_imports, imports_approved
from forge.core.memory.file import Loaded, MemoryFile
from forge.core.memory.read import Library
from forge.core.memory.sources import MemoryRequest, load_scoped, load_start
from forge.foundation.errors import UsageError
from forge.hosts.cli.command import (
    JSON,
    NO_COLOR,
    Command,
    named_directory,
    print_json,
    read_arguments,
    take_words,
)
from forge.hosts.cli.flags import SWITCH, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import load_configuration
from forge.hosts.memory_request import memory_request
from forge.hosts.options import read_options

COMMAND = Command(
    name="memory",
    usage=("memory [DIR]", "memory --allow-imports [DIR]", "memory --forbid-imports [DIR]"),
    about=(
        "Lists the files whose instructions a run in a directory starts with, in the order the model gets "
        "them, the rules that come in when a matching file is used, and the files that are not used. Files "
        "of a project may import files from outside of it only after you have allowed it."
    ),
    flags=(
        Flag("--allow-imports", SWITCH, "", "let files of this project import files from outside"),
        Flag("--forbid-imports", SWITCH, "", "take that back"),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge memory", "what counts here"),
        ("forge --setting-sources user memory", "the same without files of the project"),
        ("forge memory --json ../other", "another directory, for scripts"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Lists memory files, or remembers whether imports from outside are allowed."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    (word,) = take_words(COMMAND, given.words, ("DIR",), optional=1)
    directory = named_directory(word)
    if given.on("allow_imports") and given.on("forbid_imports"):
        raise UsageError("Only one of --allow-imports and --forbid-imports can be meant.")
    options = read_options(line)
    c = load_configuration(options, env, directory)
    if given.on("allow_imports") or given.on("forbid_imports"):
        approve_imports(c.places, approved=given.on("allow_imports"))
    request, library = memory_request(options, c), Library()
    loaded, scoped = load_start(request, library), load_scoped(request, library)
    if given.on("json"):
        listing = _listing(request, loaded, scoped, imports=imports_approved(c.places))
        print_json(listing)
        return 0
    _print(open_screen(env, plain=given.on("no_color")), request, loaded, scoped)
    return 0


def _listing(
    request: MemoryRequest, loaded: Loaded, scoped: list[MemoryFile], *, imports: bool
) -> dict[str, Any]:
    return {
        "directory": request.cwd,
        "files": [_row(f) for f in loaded.files],
        "onDemand": [_row(f) for f in scoped],
        "skipped": loaded.skipped,
        "problems": [str(note) for note in loaded.diagnostics],
        "agentsMd": request.agents,
        "externalImports": imports,
        "notes": request.auto_dir or None,
    }


def _row(file: MemoryFile) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": file.path,
        "type": file.memory_type,
        "label": file.label,
        "bytes": _size(file),
    }
    if file.globs:
        row["paths"] = file.globs
    if file.parent:
        row["importedBy"] = file.parent
    return row


def _print(screen: Screen, request: MemoryRequest, loaded: Loaded, scoped: list[MemoryFile]) -> None:
    for file in loaded.files:
        source = f", imported by {file.parent}" if file.parent else ""
        screen.line(file.path)
        screen.line(f"    {file.label}; {_size(file):,} bytes{source}", "dim")
    if not loaded.files:
        screen.say("No instruction files are in use. `forge -p /init` lets the model write one.")
    for file in scoped:
        screen.line(file.path)
        screen.line(f"    when a file is used that matches {', '.join(file.globs or [])}", "dim")
    for skipped in loaded.skipped:
        screen.line(f"{skipped.path} is not used: {skipped.reason}")
    for note in loaded.diagnostics:
        screen.line(str(note), "yellow")
    if request.auto_dir:
        screen.line(f"Notes of the model: {request.auto_dir}", "dim")


def _size(file: MemoryFile) -> int:
    return len(file.content.strip().encode())
