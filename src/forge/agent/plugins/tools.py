"""The tools a session has because of its plugins; they come and go with them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.team.crew import Seat
from forge.core.components.catalog import Catalog
from forge.core.registry import Component
from forge.core.tool import Tool


class PluginTools:
    """`offered`: the run does not say itself which tools it wants. `version` is that of the components.

    `wasm` is the setting of that name, without what files of the project say.
    """

    def __init__(self) -> None:
        self.offered = True
        self.version = 0
        self.wasm: Any = None
        self.removers: list[Callable[[], None]] = []


def plugin_tools(catalog: Catalog, settings: Callable[[], Any]) -> list[Tool]:
    """What plugins add to the built-in tools."""
    tools: list[Tool] = []
    if len(catalog.languages):
        tools.append(import_module("forge.core.lsp.builtin").lsp_tool())
    if catalog.wasm:
        made = import_module("forge.core.wasm.tool").wasm_tool
        tools += [made(component, settings) for component in catalog.wasm]
    return tools


def add_plugin_tools(s: Session, wasm: Any, *, offered: bool) -> None:
    """Gives a session the tools of its plugins."""
    mine = s.keep(PluginTools)
    mine.offered, mine.wasm = offered, wasm
    _swap(s)


def renew_tools(s: Session) -> None:
    """After components came or went: the next request has the tools of the plugins there are now."""
    mine, version = s.keep(PluginTools), s.keep(Ecosystem).version
    # A sub-agent has what its definition gave it when it started.
    if mine.version != version and s.keep(Seat).depth == 0:
        mine.version = version
        _swap(s)


def _swap(s: Session) -> None:
    mine, parts = s.keep(PluginTools), s.parts
    for remove in mine.removers:
        remove()
    fresh = plugin_tools(parts.catalog, lambda: mine.wasm)
    mine.removers = [parts.tools.add(Component(tool.name, tool, tool.origin)) for tool in fresh]
    if fresh and mine.offered and parts.allowed is not None:
        names = parts.allowed | {tool.name for tool in fresh}
        s.parts = msgspec.structs.replace(parts, allowed=names)
