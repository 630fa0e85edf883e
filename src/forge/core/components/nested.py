"""Skills that appear when a file is touched: those of directories further down, and `paths` skills."""

from __future__ import annotations

import os

import msgspec

from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import Skill
from forge.core.components.listing import View, list_some, offered
from forge.core.components.scan import scan_skills
from forge.core.components.user_files import SHARED, scoped_note
from forge.core.registry import Component
from forge.foundation.globs import matches_paths
from forge.foundation.origin import Diagnostic, Scope
from forge.foundation.paths import DIALECTS


class Found(msgspec.Struct, frozen=True):
    """The skills of one directory under their plain names; `area` and `place` are relative to the start."""

    area: str
    place: str
    skills: list[Component[Skill]]
    diagnostics: list[Diagnostic] = []


class Touch(msgspec.Struct, frozen=True):
    """What a touched file brings. The contribution takes the place of the one of the touch before it."""

    found: list[Found]
    contribution: Contribution
    new: list[Found] = []
    names: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()


NOTHING = Touch([], Contribution())


def touched(catalog: Catalog, view: View, cwd: str, path: str, before: Touch = NOTHING) -> Touch | None:
    """What reading or changing the file `path` makes available; None when that is nothing."""
    relative = os.path.relpath(path, cwd).replace(os.sep, "/")
    if relative.startswith("../"):
        return None
    known = {found.place for found in before.found}
    new = [f for f in _discovered(cwd, relative) if f.place not in known]
    found = [*before.found, *new]
    contribution = _named(catalog, found) if new else before.contribution
    components = [*(c for c in catalog.skills if not _is_nested(c, before)), *contribution.skills]
    active = {c.name for c in components if c.name not in view.active and _activated(c, relative)}
    if not new and not active:
        return None
    old = {c.name for c in before.contribution.skills}
    names = {c.name for c in contribution.skills} - old
    return Touch(found, contribution, new, frozenset(names), frozenset(active))


def announcement(catalog: Catalog, view: View, touch: Touch) -> str:
    """What the model is told, once the contribution is in the catalogue and the view knows what is active."""
    news = touch.names | touch.active
    rows = [c for c in offered(catalog, view) if c.name in news]
    rows.sort(key=lambda c: (not c.value.area, c.name.rpartition(":")[2].lower(), c.value.area))
    listed = list_some(catalog, rows, view)
    return "\n\n".join([*_heads(touch, rows), listed])


def _heads(touch: Touch, rows: list[Component[Skill]]) -> list[str]:
    """The names of what is new, directory by directory, the innermost first."""
    names = {c.origin.path: c.name for c in rows}
    heads = []
    for found in reversed(touch.new):
        here = [f"- {names[c.origin.path]}" for c in found.skills if c.origin.path in names]
        if here:
            head = f"New skills discovered in {found.place}, now available via the Skill tool:"
            heads.append("\n".join([head, *here]))
    return heads


def variants(catalog: Catalog, name: str) -> list[tuple[str, str]]:
    """The qualified names and areas of skills that share a plain name."""
    found = [
        (c.name, c.value.area) for c in catalog.skills if c.value.area and c.name == f"{c.value.area}:{name}"
    ]
    return sorted(found, key=lambda pair: pair[1])


def _discovered(cwd: str, relative: str) -> list[Found]:
    """The skill directories from below `cwd` down to the file."""
    steps = relative.split("/")[:-1]
    found: list[Found] = []
    for n in range(1, len(steps) + 1):
        area = "/".join(steps[:n])
        for dialect in (SHARED, *DIALECTS):
            place = f"{area}/{dialect}/skills"
            if os.path.isdir(f"{cwd}/{place}"):
                skills, notes = scan_skills(f"{cwd}/{place}", Scope.PROJECT)
                found.append(Found(area, place, skills, notes))
    return found


def _named(catalog: Catalog, found: list[Found]) -> Contribution:
    """The skills under the names they are called by: plain if free, else with the area in front."""
    taken = {c.name for c in catalog.skills if not c.value.area and not c.value.is_command}
    # Of one area the last dialect counts.
    rows = {(f.area, c.name): (f, c) for f in found for c in f.skills}
    plain = [name for _, name in rows]
    skills: list[Component[Skill]] = []
    for (area, name), (f, c) in rows.items():
        free = name not in taken
        note = _found_note(f) if free else scoped_note(area, name)
        full = name if free and plain.count(name) == 1 else f"{area}:{name}"
        # That a file near it was touched is reason enough to show it.
        skill = msgspec.structs.replace(c.value, name=full, area=area, note=note, paths=None)
        skills.append(Component(full, skill, c.origin))
    return Contribution(skills=skills, diagnostics=[note for f in found for note in f.diagnostics])


def _found_note(f: Found) -> str:
    return f"(from {f.place} — applies when working on files under {f.area}/)"


def _activated(c: Component[Skill], relative: str) -> bool:
    return c.value.paths is not None and matches_paths(c.value.paths, relative)


def _is_nested(c: Component[Skill], before: Touch) -> bool:
    return any(c is other for other in before.contribution.skills)
