"""The system prompt of a run: Forge's or the user's own, with what the command line adds to it."""

from __future__ import annotations

from forge.agent.prompt import system_prompt
from forge.agent.skills.styles import keeps_coding
from forge.core.components.catalog import Catalog
from forge.hosts.configuration import Configuration
from forge.hosts.memory_request import notes_directory
from forge.hosts.options import RunOptions, file_text


def system_text(o: RunOptions, c: Configuration, catalog: Catalog) -> list[str]:
    """The system blocks of a run."""
    return system_prompt(
        own_system_prompt(o),
        appended_text(o),
        bare=o.bare,
        notes_dir=notes_directory(o, c),
        coding=keeps_coding(catalog, c.settings.get("outputStyle", "")),
    )


def own_system_prompt(o: RunOptions) -> str | None:
    """The user's own system prompt, None for Forge's."""
    if o.system_prompt_file is not None:
        return file_text(o.system_prompt_file, "System prompt")
    return o.system_prompt


def appended_text(o: RunOptions) -> str:
    """What the command line adds to the system prompt."""
    if o.append_system_prompt_file is not None:
        return file_text(o.append_system_prompt_file, "Append system prompt")
    return o.append_system_prompt or ""
