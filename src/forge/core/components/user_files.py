"""Skills, commands, agents and output styles of managed, user, project and added directories."""

from __future__ import annotations

import os
from collections.abc import Collection

import msgspec

from forge.core.components.catalog import Contribution
from forge.core.components.kinds import Skill
from forge.core.components.scan import scan_agents, scan_commands, scan_skills, scan_styles
from forge.core.registry import Component
from forge.foundation.origin import Scope
from forge.foundation.paths import DIALECTS, Places

ALL_SOURCES = frozenset({"user", "project", "local"})
SHARED = ".agents"


def read_places(
    places: Places, added: Collection[str] = (), sources: Collection[str] = ALL_SOURCES
) -> list[Contribution]:
    """What all directories contribute, the weakest first; `sources` are those of `--setting-sources`.

    There is one contribution per level (managed, user, each project directory, each added directory) and in
    each the dialects from the weakest to the strongest.
    """
    seen: set[str] = set()
    managed = _level(_managed(places), Scope.MANAGED, seen)
    user = (
        _level([f"{places.home}/{SHARED}", *places.user_dirs], Scope.USER, seen)
        if "user" in sources
        else None
    )
    near: list[Contribution] = []
    beside: list[tuple[str, Contribution]] = []
    if "project" in sources:
        near = [_level(_dialects(directory), Scope.PROJECT, seen) for directory in levels(places)]
        beside = [(directory, _level(_dialects(directory), Scope.PROJECT, seen)) for directory in added]
    strong = [*reversed(near), *([user] if user else []), managed]
    taken = {c.name for contribution in strong for c in contribution.skills if not c.value.is_command}
    return [*reversed([_qualified(directory, c, taken) for directory, c in beside]), *strong]


def levels(places: Places) -> list[str]:
    """The project directories from the current one up to the root of the repository."""
    found = [places.cwd]
    while places.git_root and found[-1] != places.git_root:
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            break
        found.append(above)
    return found


def scoped_note(area: str, name: str) -> str:
    """What the model reads about a skill whose plain name is another one's."""
    return (
        f'(scoped to {area}/ — use this instead of the unscoped "{name}" skill when the files being changed'
        f" are under {area}/)"
    )


def _managed(places: Places) -> list[str]:
    found: list[str] = []
    for directory, dialect in zip(places.managed_dirs, DIALECTS, strict=False):
        # Forge's own managed directories need no further folder.
        found += [*([] if dialect == ".claude" else [directory]), f"{directory}/{dialect}"]
    return found


def _dialects(directory: str) -> list[str]:
    return [f"{directory}/{dialect}" for dialect in (SHARED, *DIALECTS)]


def _level(directories: list[str], scope: Scope, seen: set[str]) -> Contribution:
    """What the directories of one level hold; one that was read before (the home as project) is left out."""
    level = Contribution(skills=[], agents=[], styles=[], diagnostics=[])
    for directory in directories:
        if not os.path.isdir(directory) or (real := os.path.realpath(directory)) in seen:
            continue
        seen.add(real)
        _take(level, directory, scope)
    return level


def _take(level: Contribution, directory: str, scope: Scope) -> None:
    skills, notes = scan_skills(f"{directory}/skills", scope)
    level.skills.extend(skills)
    level.diagnostics.extend(notes)
    if os.path.basename(directory) == SHARED:
        return
    commands, notes = scan_commands(f"{directory}/commands", scope)
    level.skills.extend(commands)
    level.diagnostics.extend(notes)
    agents, notes = scan_agents(f"{directory}/agents", scope)
    level.agents.extend(agents)
    level.diagnostics.extend(notes)
    styles, notes = scan_styles(f"{directory}/output-styles", scope)
    level.styles.extend(styles)
    level.diagnostics.extend(notes)


def _qualified(directory: str, level: Contribution, taken: set[str]) -> Contribution:
    """Skills of added directories whose names are taken get that of the directory in front."""
    area = os.path.basename(os.path.normpath(directory))
    skills = [_renamed(c, area) if c.name in taken and not c.value.is_command else c for c in level.skills]
    taken |= {c.name for c in skills if not c.value.is_command}
    return msgspec.structs.replace(level, skills=skills)


def _renamed(component: Component[Skill], area: str) -> Component[Skill]:
    name = f"{area}:{component.name}"
    note = scoped_note(area, component.name)
    skill = msgspec.structs.replace(component.value, name=name, area=area, note=note)
    return Component(name, skill, component.origin)
