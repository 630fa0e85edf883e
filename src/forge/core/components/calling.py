"""Who may call which skill, and what is answered when that fails."""

from __future__ import annotations

import re
from collections.abc import Collection

from forge.core.components.catalog import Catalog
from forge.core.components.kinds import Skill
from forge.core.components.listing import View, find_skill, is_chosen, offered, override_of
from forge.core.components.nested import variants
from forge.core.registry import Component
from forge.foundation.suggest import closest

_BUILT_IN = ("clear", "compact")
_TYPED = re.compile(r"/(\S+)(?:\s(.*))?", re.DOTALL)


def split_typed(prompt: str) -> tuple[str, str] | None:
    """The name and the arguments of a prompt that starts with a slash."""
    match = _TYPED.fullmatch(prompt)
    return (match[1], (match[2] or "").strip()) if match else None


def needs_permission(skill: Skill) -> bool:
    """Whether a call by the model needs approval: the skill would change what else is allowed."""
    return bool(skill.allowed_tools or skill.disallowed_tools or skill.hooks)


def typed_skill(catalog: Catalog, view: View, name: str) -> tuple[Component[Skill] | None, str]:
    """The skill a user typed, or the answer instead of one; neither when there is no such skill."""
    found = find_skill(catalog, view, name)
    if found is None:
        entries = [] if view.disabled else catalog.skills.find(name)
        if entries and override_of(entries[0], view) == "off":
            return None, (
                f'Skill "{name}" is disabled via skillOverrides.'
                " Remove the override from your settings to run it."
            )
        return None, ""
    if not found.value.user_invocable:
        return None, (
            "This skill can only be invoked by Claude, not directly by users."
            f' Ask Claude to use the "{found.name}" skill for you.'
        )
    return found, ""


def called_skill(
    catalog: Catalog, view: View, asked: str, commands: Collection[str] = ()
) -> tuple[Component[Skill] | None, str]:
    """The skill the model asked for, or the error; `commands` are those only users can run."""
    asked = asked.removeprefix("/")
    found = find_skill(catalog, view, asked)
    if found is None:
        return None, _unknown(catalog, view, asked, commands)
    if override_of(found, view) == "user-invocable-only":
        return None, _switched_off(asked)
    if not is_chosen(found.name, view):
        return None, f"Skill {asked} is not in this session's skills allowlist"
    if not found.value.model_invocable:
        return None, (
            f"Skill {asked} cannot be used with Skill tool due to disable-model-invocation. Ask the user to"
            f" run /{asked} themselves — it cannot be invoked via the Skill tool. Do not replicate this"
            " skill's workflow by other means — it is reserved for explicit user invocation."
        )
    return found, ""


def again(name: str, arguments: str, *, unchanged: bool) -> str:
    """What comes in place of a body that is in the conversation already, or before one that changed."""
    if not unchanged:
        return (
            f"(Re-invocation of /{name} — the skill instructions were previously loaded; the arguments or"
            " dynamic output below are new.)"
        )
    told = f"Skill /{name} is already loaded above; instructions unchanged."
    return f"{told} Arguments: {arguments}" if arguments else told


def _switched_off(asked: str) -> str:
    return f"Skill {asked} is disabled for model invocation in skillOverrides settings"


def _unknown(catalog: Catalog, view: View, asked: str, commands: Collection[str]) -> str:
    entries = [] if view.disabled else catalog.skills.find(asked)
    if entries and override_of(entries[0], view) == "off":
        return _switched_off(asked)
    if not asked:
        return "Invalid skill format: "
    if asked in commands:
        kind = "a built-in CLI" if asked in _BUILT_IN else "a UI"
        return (
            f"{asked} is {kind} command, not a skill. Ask the user to run /{asked} themselves — it cannot be"
            " invoked via the Skill tool."
        )
    nested = [name for name, _ in variants(catalog, asked)]
    if nested:
        return (
            f"Unknown skill: {asked}. Directory-scoped variants exist: {', '.join(nested)} — invoke the"
            " variant whose directory contains the files you are working on."
        )
    names = [c.name for c in offered(catalog, view)]
    full = next((name for name in names if name.endswith(f":{asked}")), "")
    if full:
        return f"Unknown skill: {asked}. Did you mean {full}? Invoke it by that full name."
    near = closest(asked, names)
    return f"Unknown skill: {asked}. Did you mean {near}?" if near else f"Unknown skill: {asked}"
