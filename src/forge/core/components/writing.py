"""Writes component files: changes what was asked for and nothing else, and drafts new skills and agents."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from forge.core.components.skill_file import SKILL_FILE
from forge.foundation.atomic import update_text
from forge.foundation.errors import UsageError
from forge.foundation.frontmatter import split, write_values

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME = 64


def change_text(text: str, changes: dict[str, Any], body: str | None = None) -> str:
    """A component file with some values set (None removes one) and, if given, another body."""
    changed = write_values(text, changes) if changes else text
    if body is None:
        return changed
    old = split(changed)[1]
    return changed[: len(changed) - len(old)] + body


def write_component(path: str, changes: dict[str, Any], body: str | None = None) -> bool:
    """Changes a SKILL.md, command, agent or style file in place; False when nothing had to change."""
    return update_text(path, lambda text: change_text(text, changes, body), private=False)


def new_skill(name: str, description: str) -> str:
    """The text of a new SKILL.md."""
    title = name.replace("-", " ").capitalize()
    head = write_values("", {"name": _checked(name), "description": description})
    return (
        f"{head}\n# {title}\n\nSay here what to do, step by step. `$ARGUMENTS` is what follows `/{name}`.\n"
    )


def new_agent(name: str, description: str, tools: Sequence[str] = ()) -> str:
    """The text of a new agent file."""
    values: dict[str, Any] = {"name": _checked(name), "description": description}
    if tools:
        values["tools"] = ", ".join(tools)
    head = write_values("", values)
    return f"{head}\nYou are {name}. Say here how the agent works and what its answer must contain.\n"


def create_skill(directory: str, name: str, description: str) -> str:
    """Creates `NAME/SKILL.md` in a directory of skills and returns its path."""
    return _create(os.path.join(directory, name, SKILL_FILE), new_skill(name, description))


def create_agent(directory: str, name: str, description: str, tools: Sequence[str] = ()) -> str:
    """Creates `NAME.md` in a directory of agents and returns its path."""
    return _create(os.path.join(directory, f"{name}.md"), new_agent(name, description, tools))


def _create(path: str, text: str) -> str:
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already", "Choose another name, or edit the file.")
    update_text(path, lambda _: text, private=False)
    return path


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        hint = "Use lower-case letters, digits and single dashes, at most 64 characters."
        raise UsageError(f"{name!r} cannot be the name of a new component", hint)
    return name
