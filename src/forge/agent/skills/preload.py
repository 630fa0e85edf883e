"""What a sub-agent knows before its first step: skills its definition names, and notes of earlier runs."""

from __future__ import annotations

import os

from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.rendering import Unrendered, rendered
from forge.agent.texts.load import text
from forge.core.components.agent_type import AgentType
from forge.core.components.listing import find_skill
from forge.core.memory.auto import INDEX, cut
from forge.core.message import Block, Text
from forge.foundation.permissions.situation import Situation

_FOLDERS = {"project": "agent-memory", "local": "agent-memory-local"}


async def task_content(child: Session, kind: AgentType, prompt: str) -> str | list[Block]:
    """The task of a sub-agent, followed by the skills its definition names."""
    pairs: list[tuple[str, str]] = []
    for name in kind.skills:
        words = await _skill_text(child, kind, name)
        if words:
            marks = f"<command-message>{name}</command-message>\n<command-name>{name}</command-name>"
            pairs.append((f"{marks}\n<skill-format>true</skill-format>", words))
    if not pairs:
        return prompt
    # As in the reference: messages that follow each other are separated by a line end.
    blocks: list[Block] = [Text(f"{prompt}\n")]
    for n, (marks, words) in enumerate(pairs, 1):
        blocks += [Text(marks), Text(words if n == len(pairs) else f"{words}\n")]
    return blocks


def notes_place(kind: AgentType, situation: Situation) -> str:
    """The directory in which an agent keeps notes; empty if it keeps none."""
    name = kind.name.replace(":", "-").replace("/", "-")
    if kind.memory == "user" and situation.config_dirs:
        return os.path.join(situation.config_dirs[0], "agent-memory", name)
    folder = _FOLDERS.get(kind.memory)
    return os.path.join(situation.start_dir, ".claude", folder, name) if folder else ""


def notes_text(directory: str) -> str:
    """What an agent is told about its notes, and the beginning of their index."""
    if not directory:
        return ""
    words = text("agent_memory").replace("{directory}", directory)
    try:
        with open(os.path.join(directory, INDEX), encoding="utf-8", errors="replace") as file:
            index = file.read().strip()
    except OSError:
        index = ""
    return f"{words}\n\n{cut(index)}" if index else f"{words}\n\n(There are no notes yet.)"


async def _skill_text(child: Session, kind: AgentType, name: str) -> str:
    """The text of a skill; nothing if there is none, or none for the model."""
    view = child.keep(Ecosystem).view
    names = [name, f"{kind.plugin.name}:{name}"] if kind.plugin else [name]
    found = next((f for n in names if (f := find_skill(child.parts.catalog, view, n)) is not None), None)
    if found is None or not found.value.model_invocable:
        return ""
    try:
        return await rendered(child, found.value, "")
    except Unrendered as error:
        child.warn(f"The skill {name} of the agent {kind.name} cannot be used: {error}")
        return ""
