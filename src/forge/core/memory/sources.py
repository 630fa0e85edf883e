"""Which memory files there are for a start directory, in the order in which the model gets them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec

from forge.core.memory.auto import auto_memory
from forge.core.memory.excludes import excluder
from forge.core.memory.file import LOCAL, MANAGED, PROJECT, USER, Loaded, MemoryFile, Skipped
from forge.core.memory.read import Library, Reading
from forge.foundation.globs import matches_paths
from forge.foundation.inside import is_inside

ALL_SOURCES = frozenset(("user", "project", "local"))


def _never() -> bool:
    return False


class MemoryRequest(msgspec.Struct, frozen=True):
    """Where to look for memory files.

    `agents` is fallback (AGENTS.md counts where there is no CLAUDE.md), both or off. Project files of the
    directories between `worktree` and its main checkout `repository` belong to the latter and are left out.
    """

    cwd: str
    home: str
    user_dirs: list[str] = []
    managed_dirs: list[str] = []
    sources: frozenset[str] = ALL_SOURCES
    excludes: list[str] = []
    agents: str = "fallback"
    managed_text: str = ""
    added: list[str] = []
    auto_dir: str = ""
    worktree: str = ""
    repository: str = ""
    external: Callable[[], bool] = _never
    files: bool = True

    def reading(self, library: Library) -> Reading:
        return Reading(
            library, self.cwd, home=self.home, excluded=excluder(self.excludes), external=self.external
        )


def load_start(request: MemoryRequest, library: Library) -> Loaded:
    """The files a conversation starts with."""
    if not request.files:
        return Loaded([])
    reading = request.reading(library)
    found = [*_managed(request, reading), *_user(request, reading)]
    own: list[MemoryFile] = []
    for directory in lineage(request.cwd):
        own += directory_files(directory, request, reading)
    active = stands_in(request, own)
    agents = _agents(request, reading, active=active)
    for directory in request.added:
        own += directory_files(directory, request, reading)
        agents += reading_agents(directory, request, reading) if request.agents == "both" else []
    files = [*found, *own, *agents, *auto_memory(request.auto_dir, library)]
    return Loaded(files, reading.skipped, active, reading.diagnostics)


def load_scoped(request: MemoryRequest, library: Library) -> list[MemoryFile]:
    """All rules with `paths` of organisation, user and the directories down to the start directory."""
    if not request.files:
        return []
    reading = request.reading(library)
    found = _read_rules([_managed_rules(d) for d in request.managed_dirs], MANAGED, reading)
    if "user" in request.sources:
        found += _read_rules([os.path.join(d, "rules") for d in request.user_dirs], USER, reading)
    for directory in lineage(request.cwd) if "project" in request.sources else ():
        if not _belongs_elsewhere(directory, request):
            places = [os.path.join(place, "rules") for place in reading.dialects(directory)]
            found += _read_rules(places, PROJECT, reading)
    return [f for f in found if f.globs]


def lineage(directory: str) -> list[str]:
    """The directories from the root of the file system down to this one."""
    found = [directory]
    while (parent := os.path.dirname(directory)) != directory:
        found.append(directory := parent)
    return found[::-1]


def stands_in(request: MemoryRequest, files: Iterable[MemoryFile]) -> bool:
    """Whether AGENTS.md files count, given the files that were found on the way to the start directory."""
    if request.agents != "fallback":
        return request.agents == "both"
    return "project" in request.sources and not any(_is_claude_md(f) for f in files)


def directory_files(directory: str, request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    """What one directory contributes at the start: project files, rules without `paths`, local files."""
    return [
        *_project_files(directory, request, reading),
        *rules(directory, request, reading, scoped=False),
        *local_files(directory, request, reading),
    ]


def _project_files(directory: str, request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    if "project" not in request.sources or _belongs_elsewhere(directory, request):
        return []
    found = reading.with_imports(os.path.join(directory, "CLAUDE.md"), PROJECT)
    for place in reading.dialects(directory):
        found += _own_file(place, PROJECT, request, reading)
    return found


def local_files(directory: str, request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    """The user's own notes on a directory."""
    if "local" not in request.sources:
        return []
    found = reading.with_imports(os.path.join(directory, "CLAUDE.local.md"), LOCAL)
    if request.agents != "off":
        found += reading.with_imports(os.path.join(directory, "AGENTS.local.md"), LOCAL)
    return found


def nested_project_files(directory: str, request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    """What a directory below the start directory adds when it is touched."""
    return [
        *_project_files(directory, request, reading),
        *local_files(directory, request, reading),
        *rules(directory, request, reading, scoped=False),
    ]


def rules(
    directory: str, request: MemoryRequest, reading: Reading, *, scoped: bool, target: str = ""
) -> list[MemoryFile]:
    """The rules of a directory: those without `paths`, or those whose `paths` cover `target`."""
    if "project" not in request.sources or _belongs_elsewhere(directory, request):
        return []
    places = [os.path.join(place, "rules") for place in reading.dialects(directory)]
    return _rules(places, PROJECT, reading, (directory, target) if scoped else None)


def managed_and_user_rules(request: MemoryRequest, reading: Reading, target: str) -> list[MemoryFile]:
    """The scoped rules of organisation and user that cover `target`."""
    covering = (request.cwd, target)
    found = _rules([_managed_rules(d) for d in request.managed_dirs], MANAGED, reading, covering)
    if "user" in request.sources:
        found += _rules([os.path.join(d, "rules") for d in request.user_dirs], USER, reading, covering)
    return found


def reading_agents(directory: str, request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    """The AGENTS.md of a directory and of its `.claude`, with their imports."""
    if _belongs_elsewhere(directory, request):
        return []
    found = reading.with_imports(os.path.join(directory, "AGENTS.md"), PROJECT)
    inner = os.path.join(directory, ".claude")
    if inner not in request.user_dirs:
        found += reading.with_imports(os.path.join(inner, "AGENTS.md"), PROJECT)
    return [msgspec.structs.replace(f, agents=True) for f in found]


def _managed(request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    found = []
    for directory in request.managed_dirs:
        found += _own_file(directory, MANAGED, request, reading)
    if request.managed_text.strip():
        found.append(MemoryFile("<managed-settings>", MANAGED, request.managed_text))
    return found + _rules([_managed_rules(d) for d in request.managed_dirs], MANAGED, reading, None)


def _managed_rules(directory: str) -> str:
    inner = ".claude/rules" if os.path.basename(directory) == "claude-code" else "rules"
    return os.path.join(directory, inner)


def _user(request: MemoryRequest, reading: Reading) -> list[MemoryFile]:
    found: list[MemoryFile] = []
    for directory in request.user_dirs if "user" in request.sources else ():
        found += _own_file(directory, USER, request, reading, claude=directory == request.user_dirs[0])
        found += _rules([os.path.join(directory, "rules")], USER, reading, None)
    return found


def _own_file(
    directory: str, memory_type: str, request: MemoryRequest, reading: Reading, *, claude: bool = False
) -> list[MemoryFile]:
    """The file in a configuration directory; those of Forge may call it AGENTS.md."""
    found = reading.with_imports(os.path.join(directory, "CLAUDE.md"), memory_type)
    claude = claude or os.path.basename(directory) in (".claude", "claude-code")
    if claude or request.agents == "off" or (found and request.agents != "both"):
        return found
    return found + reading.with_imports(os.path.join(directory, "AGENTS.md"), memory_type)


def _agents(request: MemoryRequest, reading: Reading, *, active: bool) -> list[MemoryFile]:
    directories = lineage(request.cwd)
    if active:
        return [f for directory in directories for f in reading_agents(directory, request, reading)]
    if "project" in request.sources:
        reason = "a CLAUDE.md is in use" if request.agents == "fallback" else "AGENTS.md is switched off"
        paths = [os.path.join(directory, "AGENTS.md") for directory in directories]
        reading.skipped += [Skipped(p, reason) for p in paths if p not in reading.done and os.path.isfile(p)]
    return []


def _is_claude_md(file: MemoryFile) -> bool:
    return not file.parent and os.path.basename(file.path) in ("CLAUDE.md", "CLAUDE.local.md")


def _rules(
    places: list[str], memory_type: str, reading: Reading, covering: tuple[str, str] | None
) -> list[MemoryFile]:
    """Rules below `places`; `covering` is the directory `paths` start at and the file they must cover."""
    files = _read_rules(places, memory_type, reading)
    if covering is None:
        return [f for f in files if not f.globs]
    relative = os.path.relpath(covering[1], covering[0]).replace(os.sep, "/")
    return [
        msgspec.structs.replace(f, load_reason="path_glob_match")
        for f in files
        if f.globs and matches_paths(f.globs, relative)
    ]


def _read_rules(places: list[str], memory_type: str, reading: Reading) -> list[MemoryFile]:
    paths = [path for place in places for path in _rule_files(place)]
    return [f for path in paths for f in reading.with_imports(path, memory_type)]


def _rule_files(place: str) -> list[str]:
    """The rules below a directory, in the order in which the file system lists them."""
    found: list[str] = []
    try:
        with os.scandir(place) as entries:
            listed = list(entries)
    except OSError:
        return found
    for entry in listed:
        if entry.is_dir():
            found += _rule_files(entry.path)
        elif entry.name.endswith(".md") and entry.is_file():
            found.append(entry.path)
    return found


def _belongs_elsewhere(directory: str, request: MemoryRequest) -> bool:
    """Whether a directory is part of the main checkout around a worktree that lies inside of it."""
    worktree, repository = request.worktree, request.repository
    if not worktree or worktree == repository or not is_inside(worktree, repository):
        return False
    return is_inside(directory, repository) and not is_inside(directory, worktree)
