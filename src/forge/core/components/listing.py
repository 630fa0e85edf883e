"""What users may type and what the model is told about skills and commands: order, visibility, budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from forge.core.components.catalog import SKILL_ORDER, Catalog
from forge.core.components.fields import shorten
from forge.core.components.kinds import Skill
from forge.core.registry import Component
from forge.foundation.collate import name_order
from forge.foundation.origin import Scope

HEADING = "The following skills are available for use with the Skill tool:"
OVERRIDES = frozenset({"on", "name-only", "user-invocable-only", "off"})
DEFAULT_BUDGET = 8000
LONG_CONTEXT_BUDGET = 30_000
LONGEST_TEXT = 1536

# Stays when bundled skills are switched off.
_ALWAYS = "doctor"
_FILES = frozenset({Scope.MANAGED, Scope.USER, Scope.PROJECT})
_CLEAN = re.compile(r"[\w.:-]+")
_CLEAN_IN_PLUGIN = re.compile(r"[\w.-]+")
_BREAKS = re.compile(r"[\r\n]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class View(msgspec.Struct, frozen=True):
    """What decides which skills show: settings, flags, and the `paths` skills that were activated.

    `chosen` are the only ones a host wants the model to use, by name or by what follows the plugin's name.
    """

    overrides: Mapping[str, str] = {}
    without_bundled: bool = False
    disabled: bool = False
    active: frozenset[str] = frozenset()
    chosen: frozenset[str] | None = None


class Limits(msgspec.Struct, frozen=True):
    """How long the whole list and the text of one skill may be, in characters."""

    budget: int = DEFAULT_BUDGET
    longest: int = LONGEST_TEXT


_LIMITS = Limits()


def read_overrides(value: Any) -> dict[str, str]:
    """The setting `skillOverrides`; with one wrong value in it the reference takes none of it."""
    rows = value if isinstance(value, dict) else {}
    return dict(rows) if all(isinstance(v, str) and v in OVERRIDES for v in rows.values()) else {}


def override_of(component: Component[Skill], view: View) -> str:
    """The value of `skillOverrides` for a skill: on, name-only, user-invocable-only or off."""
    return "on" if component.origin.scope is Scope.PLUGIN else view.overrides.get(component.name, "on")


def is_chosen(name: str, view: View) -> bool:
    """Whether a host lets the model use this skill."""
    return view.chosen is None or name in view.chosen or any(name.endswith(f":{own}") for own in view.chosen)


def present(catalog: Catalog, view: View) -> list[Component[Skill]]:
    """The skills and commands that are there at all, in the order users and the model see them."""
    if view.disabled:
        return []
    return [c for c in ordered(catalog) if _is_there(c, view)]


def typable(catalog: Catalog, view: View) -> list[str]:
    """The names of what users may type after a slash."""
    return [c.name for c in present(catalog, view) if c.value.user_invocable]


def announced_skills(catalog: Catalog, view: View) -> list[str]:
    """The names in `skills` of the init event: skills that say what they are for."""
    # The reference counts skills of plugins even where a command of the same name is run instead.
    found = [c for c in _ordered(catalog, _wins_or_is_skill) if _is_there(c, view)]
    names = [c.name for c in found if _counts_as_skill(c.value) and c.value.user_invocable and _explained(c)]
    return list(dict.fromkeys(names))


def offered(catalog: Catalog, view: View) -> list[Component[Skill]]:
    """What the model may call, in the order of its list."""
    return [
        c
        for c in present(catalog, view)
        if c.value.model_invocable
        and is_chosen(c.name, view)
        and override_of(c, view) != "user-invocable-only"
        and (c.origin.scope is not Scope.PLUGIN or c.value.described or c.value.when_to_use)
    ]


def listing(
    catalog: Catalog, view: View, limits: Limits = _LIMITS, usage: Mapping[str, int] | None = None
) -> str:
    """The list of skills for the model; empty without any."""
    return list_some(catalog, offered(catalog, view), view, limits, usage)


def list_some(
    catalog: Catalog,
    components: Sequence[Component[Skill]],
    view: View,
    limits: Limits = _LIMITS,
    usage: Mapping[str, int] | None = None,
) -> str:
    """The list of some skills, with as many descriptions as the budget allows, the most used first."""
    shown = display_names(catalog, view)
    titles = [_title(c, shown) for c in components]
    texts = [_text(c, view, limits.longest) for c in components]
    used = usage or {}
    order = sorted(
        range(len(titles)), key=lambda n: (not _bundled(components[n]), -used.get(components[n].name, 0))
    )
    left = limits.budget - sum(len(title) + 1 for title in titles) + 1
    lines = list(titles)
    for n in order:
        cost = len(texts[n])
        # Bundled skills keep theirs even when there is no room for them.
        if cost and (cost <= left or _bundled(components[n])):
            lines[n] += texts[n]
            left -= cost
    return "\n".join([HEADING, "", *lines]) if lines else ""


def display_names(catalog: Catalog, view: View) -> dict[str, str]:
    """Names from front matter → the skill each of them calls; taken names call what they always did."""
    found: dict[str, str] = {}
    skills = present(catalog, view)
    for c in skills:
        if c.value.display and c.value.display not in catalog.skills:
            found.setdefault(c.value.display, c.name)
    return found


def find_skill(catalog: Catalog, view: View, asked: str) -> Component[Skill] | None:
    """The skill of that name, or with that name in its front matter (of plugins also without their name)."""
    entries = catalog.skills.find(asked)
    if entries and _is_there(entries[0], view):
        return entries[0]
    shown = display_names(catalog, view)
    name = shown.get(asked)
    if name is None and ":" not in asked:
        plain = (
            own for display, own in shown.items() if ":" in display and display.partition(":")[2] == asked
        )
        name = next(plain, None)
    return catalog.skills.find(name)[0] if name else None


def ordered(catalog: Catalog) -> list[Component[Skill]]:
    """The winners: skills by scope and nearness, commands, what is qualified, plugins, the program's own."""
    return _ordered(catalog, _wins)


def _ordered(catalog: Catalog, counts: Callable[[Catalog, Component[Skill]], bool]) -> list[Component[Skill]]:
    rows = [
        (_place(c, position, index), c)
        for position, contribution in enumerate(catalog.contributions)
        for index, c in enumerate(contribution.skills)
        if counts(catalog, c)
    ]
    return [c for _, c in sorted(rows, key=lambda row: row[0])]


def _place(c: Component[Skill], position: int, index: int) -> tuple[int, int, int, tuple[str, ...]]:
    name, skill, scope = c.name, c.value, c.origin.scope
    if scope not in _FILES:
        kind = 5 if scope is Scope.BUILTIN else 3 if skill.is_command else 4
        # Plugins list theirs in the order in which they were found.
        return kind, position, index, ()
    if skill.area:
        return 2, position, 0, name_order(name)
    if skill.is_command:
        return 1, 0, 0, name_order(name)
    # What was added later is nearer.
    return 0, SKILL_ORDER.index(scope), -position, name_order(name)


def _wins(catalog: Catalog, component: Component[Skill]) -> bool:
    entries = catalog.skills.find(component.name)
    return bool(entries) and entries[0] is component


def _wins_or_is_skill(catalog: Catalog, component: Component[Skill]) -> bool:
    of_plugin = component.origin.scope is Scope.PLUGIN and not component.value.is_command
    return of_plugin or _wins(catalog, component)


def _is_there(c: Component[Skill], view: View) -> bool:
    if view.disabled or override_of(c, view) == "off":
        return False
    if c.value.paths is not None and c.name not in view.active:
        return False
    return not (view.without_bundled and _bundled(c) and c.name != _ALWAYS)


def _bundled(c: Component[Skill]) -> bool:
    return c.origin.scope is Scope.BUILTIN


def _counts_as_skill(skill: Skill) -> bool:
    # The reference also counts commands that the model cannot call.
    return not skill.is_command or not skill.model_invocable


def _explained(c: Component[Skill]) -> bool:
    return c.value.described or bool(c.value.when_to_use) or _bundled(c)


def _title(c: Component[Skill], shown: Mapping[str, str]) -> str:
    display = c.value.display
    plugin = c.value.plugin
    plain = display.removeprefix(f"{plugin.name}:") if plugin else display
    clean = (_CLEAN_IN_PLUGIN if plugin else _CLEAN).fullmatch(plain)
    if display == c.name or shown.get(display) != c.name or not clean:
        return f"- {c.name}"
    return f"- {c.name} ({display})"


def _text(c: Component[Skill], view: View, longest: int) -> str:
    if override_of(c, view) == "name-only":
        return ""
    skill = c.value
    text = f"{skill.description} {skill.note}" if skill.note else skill.description
    if skill.when_to_use:
        text += f" - {skill.when_to_use}"
    plain = _CONTROL.sub(" ", _BREAKS.sub(" ", text)).replace("<", "&lt;").replace(">", "&gt;")
    return f": {shorten(plain, longest, '…')}"
