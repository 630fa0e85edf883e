"""What user files, project files and plugins can contribute: skills, commands, styles, hooks, servers."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.foundation.origin import Origin


class PluginRoot(msgspec.Struct, frozen=True):
    """The plugin a component belongs to, as far as its variables need it.

    `options` are saved values of its `userConfig`; those named in `sensitive` never reach a text.
    """

    id: str
    name: str
    root: str
    data: str
    options: dict[str, Any] = {}
    sensitive: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        # Without the options: some are secrets.
        return f"PluginRoot(id={self.id!r}, root={self.root!r})"


class Skill(msgspec.Struct, frozen=True):
    """A skill, or a command (a skill of one file, `root` is then empty).

    The body is read when the skill is used, unless it was given inline. `described` is false when the
    description was made up from the body; None in `paths` means the skill is always visible. `area` is the
    directory that a skill found below or beside the project is meant for, `note` tells the model so. A folder
    with a SKILL.md below `commands/` is a command with a `root`.
    """

    name: str
    path: str = ""
    root: str = ""
    display: str = ""
    description: str = ""
    described: bool = False
    when_to_use: str = ""
    argument_hint: str = ""
    arguments: list[str] = []
    model_invocable: bool = True
    user_invocable: bool = True
    allowed_tools: list[str] = []
    disallowed_tools: list[str] = []
    model: str = ""
    effort: str = ""
    fork: bool = False
    agent: str = ""
    background: bool = False
    hooks: dict[str, Any] = {}
    paths: list[str] | None = None
    shell: str = ""
    inline: str | None = None
    plugin: PluginRoot | None = None
    area: str = ""
    note: str = ""
    as_command: bool = False

    @property
    def is_command(self) -> bool:
        return self.as_command or not self.root


class OutputStyle(msgspec.Struct, frozen=True):
    """A way of answering. `forced` styles of plugins apply without being selected."""

    name: str
    description: str
    body: str
    keep_coding_instructions: bool = False
    forced: bool = False


class HookSource(msgspec.Struct, frozen=True):
    """Hooks as one file or manifest has them: event name → matcher groups, still unchecked.

    `base` is the directory that relative commands of skill hooks start from.
    """

    origin: Origin
    events: dict[str, Any]
    plugin: PluginRoot | None = None
    base: str = ""


class ServerEntry(msgspec.Struct, frozen=True):
    """An MCP server as configured; variables in it are still to be replaced."""

    config: dict[str, Any]
    plugin: PluginRoot | None = None


class LspServer(msgspec.Struct, frozen=True, rename="camel"):
    """A language server of a plugin; times in milliseconds."""

    command: str
    extension_to_language: dict[str, str]
    args: list[str] = []
    transport: str = "stdio"
    env: dict[str, str] = {}
    initialization_options: Any = None
    settings: Any = None
    workspace_folder: str = ""
    startup_timeout: float | None = None
    shutdown_timeout: float | None = None
    request_timeout: float = 60_000
    restart_on_crash: bool = True
    max_restarts: int | None = None
    diagnostics: bool = True
    plugin: PluginRoot | None = None


class Extra(msgspec.Struct, frozen=True):
    """Something Forge keeps without running it yet: a monitor, a theme, a workflow, a hooks module."""

    kind: str
    name: str
    value: Any
    origin: Origin
