"""One place for all components of a session. Everything enters through `Catalog.add`, built-ins included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import Extra, HookSource, LspServer, OutputStyle, ServerEntry, Skill
from forge.core.components.wasm_tool import WasmTool
from forge.core.registry import Component, Registry
from forge.foundation.origin import Diagnostic, Scope

SKILL_ORDER = (Scope.MANAGED, Scope.USER, Scope.PROJECT, Scope.PLUGIN, Scope.BUILTIN)
AGENT_ORDER = (
    Scope.MANAGED,
    Scope.SESSION,
    Scope.CLI,
    Scope.FLAG,
    Scope.PROJECT,
    Scope.USER,
    Scope.PLUGIN,
    Scope.BUILTIN,
)
_FILES = frozenset({Scope.MANAGED, Scope.USER, Scope.PROJECT})
NEAREST_ORDER = (Scope.MANAGED, Scope.LOCAL, Scope.PROJECT, Scope.USER, Scope.PLUGIN, Scope.BUILTIN)


def skill_rank(component: Component[Skill]) -> int:
    """Skills of any scope come before commands of any scope; inside a plugin it is the other way round."""
    scope, command = component.origin.scope, component.value.is_command
    place = SKILL_ORDER.index(scope) if scope in SKILL_ORDER else len(SKILL_ORDER)
    if scope in _FILES:
        return place + len(SKILL_ORDER) * command
    return 2 * len(SKILL_ORDER) + 2 * place + (not command)


class Contribution(msgspec.Struct, frozen=True):
    """What one source brings: a directory of user files, a plugin, the program itself."""

    skills: list[Component[Skill]] = []
    agents: list[Component[AgentType]] = []
    styles: list[Component[OutputStyle]] = []
    servers: list[Component[ServerEntry]] = []
    languages: list[Component[LspServer]] = []
    wasm: list[Component[WasmTool]] = []
    hooks: list[HookSource] = []
    extras: list[Extra] = []
    bin_dirs: list[str] = []
    settings: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []


class Catalog:
    """The components of a session; contributions can come and go while it runs."""

    def __init__(self) -> None:
        self.skills: Registry[Skill] = Registry(SKILL_ORDER, skill_rank)
        self.agents: Registry[AgentType] = Registry(AGENT_ORDER)
        self.styles: Registry[OutputStyle] = Registry(NEAREST_ORDER)
        self.servers: Registry[ServerEntry] = Registry(NEAREST_ORDER)
        self.languages: Registry[LspServer] = Registry(NEAREST_ORDER)
        self.contributions: list[Contribution] = []

    def add(self, new: Contribution) -> Callable[[], None]:
        """Adds everything of a contribution and returns the function that takes it all out again."""
        removers = [self.skills.add(c) for c in new.skills]
        removers += [self.agents.add(c) for c in new.agents]
        removers += [self.styles.add(c) for c in new.styles]
        removers += [self.servers.add(c) for c in new.servers]
        removers += [self.languages.add(c) for c in new.languages]
        self.contributions.append(new)

        def remove() -> None:
            for undo in removers:
                undo()
            self.contributions[:] = [c for c in self.contributions if c is not new]

        return remove

    @property
    def wasm(self) -> list[Component[WasmTool]]:
        return [w for c in self.contributions for w in c.wasm]

    @property
    def hooks(self) -> list[HookSource]:
        return [h for c in self.contributions for h in c.hooks]

    @property
    def bin_dirs(self) -> list[str]:
        return [d for c in self.contributions for d in c.bin_dirs]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [d for c in self.contributions for d in c.diagnostics]
