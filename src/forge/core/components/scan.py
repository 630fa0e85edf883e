"""Directories with skills, commands, agents and output styles: which files count, and their names."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from forge.core.components.agent_file import read_agent
from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import OutputStyle, Skill
from forge.core.components.skill_file import SKILL_FILE, read_skill
from forge.core.components.style_file import read_style
from forge.core.registry import Component
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity

RESERVED = "synced"

_DEEPEST = 20


def scan_skills(directory: str, scope: Scope) -> tuple[list[Component[Skill]], list[Diagnostic]]:
    """The skills of `directory`: its folders that hold a SKILL.md, one level deep."""
    found: list[Component[Skill]] = []
    notes: list[Diagnostic] = []
    for name, root in folders(directory):
        path = f"{root}/{SKILL_FILE}"
        origin = Origin(scope, path)
        skill, problems = read_skill(path, name, root, origin)
        if skill is None and not os.path.lexists(path):
            continue
        notes += problems
        if name.lower() == RESERVED:
            hint = "Give its directory another name."
            notes.append(Diagnostic(Severity.WARNING, f"the name {name} is reserved", origin, hint))
        elif skill is not None:
            found.append(Component(name, skill, origin))
    return found, notes


def scan_commands(directory: str, scope: Scope) -> tuple[list[Component[Skill]], list[Diagnostic]]:
    """The commands of `directory` and its folders, which become part of their names."""
    found: list[Component[Skill]] = []
    notes: list[Diagnostic] = []
    for steps, path in markdown(directory, single=SKILL_FILE):
        folder, _, file = path.rpartition("/")
        whole = file == SKILL_FILE and len(steps) > 1
        name = ":".join(steps[:-1] if whole else (*steps[:-1], steps[-1].removesuffix(".md")))
        origin = Origin(scope, path)
        command, problems = read_skill(path, name, folder if whole else "", origin)
        notes += problems
        if command is None:
            continue
        if whole:
            command = msgspec.structs.replace(command, as_command=True, display="", paths=None)
        found.append(Component(name, command, origin))
    return found, notes


def scan_agents(directory: str, scope: Scope) -> tuple[list[Component[AgentType]], list[Diagnostic]]:
    """The agents of `directory` and its folders; folders do not show in their names."""
    found: list[Component[AgentType]] = []
    notes: list[Diagnostic] = []
    for _, path in markdown(directory):
        origin = Origin(scope, path)
        kind, problems = read_agent(path, "", origin)
        notes += problems
        if kind is not None:
            found.append(Component(kind.name, kind, origin))
    return found, notes


def scan_styles(directory: str, scope: Scope) -> tuple[list[Component[OutputStyle]], list[Diagnostic]]:
    """The output styles in `directory`."""
    found: list[Component[OutputStyle]] = []
    notes: list[Diagnostic] = []
    for steps, path in markdown(directory, deepest=1):
        if len(steps) > 1:
            continue
        origin = Origin(scope, path)
        style, problems = read_style(path, origin)
        notes += problems
        if style is not None:
            found.append(Component(style.name, style, origin))
    return found, notes


def folders(directory: str) -> list[tuple[str, str]]:
    """The names and paths of the folders in a directory, links to folders included."""
    try:
        with os.scandir(directory) as entries:
            return sorted((entry.name, entry.path) for entry in entries if entry.is_dir())
    except OSError:
        return []


def markdown(
    directory: str, single: str = "", deepest: int = _DEEPEST
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The `.md` files below a directory with the steps to them, sorted.

    A file called `single` in a folder stands for all files beside it.
    """
    return _below(directory, (), single, deepest, frozenset())


def _below(
    directory: str, steps: tuple[str, ...], single: str, deepest: int, above: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    try:
        with os.scandir(directory) as entries:
            rows = sorted((e.name, e.path, e.is_dir(), e.is_symlink()) for e in entries)
    except OSError:
        return
    files = [(name, path) for name, path, is_dir, _ in rows if not is_dir and name.endswith(".md")]
    if steps and single:
        files = [row for row in files if row[0] == single] or files
    for name, path in files:
        yield (*steps, name), path
    if len(steps) + 1 >= deepest:
        return
    for name, path, is_dir, is_link in rows:
        if not is_dir:
            continue
        # Only a link can lead back to where the search has been.
        target = os.path.realpath(path) if is_link else ""
        if not target:
            yield from _below(path, (*steps, name), single, deepest, above)
        elif target not in above and not f"{os.path.realpath(directory)}/".startswith(f"{target}/"):
            yield from _below(path, (*steps, name), single, deepest, above | {target})
