"""What is gathered while one plugin is read, and the only way from a path in a manifest to a file."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import (
    Extra,
    HookSource,
    LspServer,
    OutputStyle,
    PluginRoot,
    ServerEntry,
    Skill,
)
from forge.core.components.wasm_tool import WasmTool
from forge.core.registry import Component
from forge.foundation.collate import name_order
from forge.foundation.inside import is_inside, is_really_inside
from forge.foundation.origin import Diagnostic, Origin, Severity


class PluginError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a plugin, or a part of it, is missing: the form in which hosts report it."""

    plugin: str
    type: str
    message: str
    path: str = ""


class Unloadable(Exception):
    """The whole plugin must not be loaded."""


class Reading(msgspec.Struct):
    """The parts of one plugin, as they are found; `inside` keeps links from leading out of its directory."""

    root: str
    error_id: str
    plugin: PluginRoot
    origin: Origin
    inside: bool = False
    skills: list[Component[Skill]] = []
    commands: list[Component[Skill]] = []
    agents: list[Component[AgentType]] = []
    styles: list[Component[OutputStyle]] = []
    servers: dict[str, Component[ServerEntry]] = {}
    languages: dict[str, Component[LspServer]] = {}
    hooks: list[HookSource] = []
    extras: list[Extra] = []
    errors: list[PluginError] = []
    diagnostics: list[Diagnostic] = []
    seen: set[str] = set()
    files: set[str] = set()
    top: frozenset[str] = frozenset()
    wasm: list[Component[WasmTool]] = []

    @property
    def name(self) -> str:
        return self.plugin.name

    def at(self, path: str) -> Origin:
        """The origin of something in a file."""
        return Origin(self.origin.scope, path, self.origin.plugin)

    def fail(self, kind: str, message: str) -> None:
        """Notes that a part is missing."""
        self.errors.append(PluginError(self.error_id, kind, message))

    def warn(self, message: str, path: str, hint: str = "", severity: Severity = Severity.WARNING) -> None:
        """Notes something for `doctor` that hosts do not report."""
        self.diagnostics.append(Diagnostic(severity, message, self.at(path), hint))

    def enter(self, root: str) -> None:
        """Makes a directory the one that default places are looked for in."""
        self.root = root
        try:
            self.top = frozenset(os.listdir(root))
        except OSError:
            self.top = frozenset()

    def has(self, place: str) -> str:
        """The path of a default place when it exists; most do not, and one look tells them all."""
        first = place.partition("/")[0]
        path = f"{self.root}/{place}"
        if first not in self.top or not os.path.exists(path) or self.leaves(f"{self.root}/{first}"):
            return ""
        return "" if first != place and self.leaves(path) else path

    def leaves(self, path: str) -> bool:
        """Whether this is a link out of a plugin whose links must stay inside; if so it is noted."""
        if not self.inside or not os.path.islink(path) or not leads_out(self, path):
            return False
        self.warn("is a link that leaves the plugin", path, "It is not followed.")
        return True

    def claim(self, path: str) -> bool:
        """Whether a file is met for the first time; the first finder has it."""
        if path in self.seen:
            return False
        self.seen.add(path)
        self.files.add(path)
        return True


def begin(root: str, error_id: str, plugin: PluginRoot, origin: Origin, *, inside: bool) -> Reading:
    """An empty reading."""
    r = Reading(root, error_id, plugin, origin, inside, [], [], [], [], {}, {}, [], [], [], [], set(), set())
    r.enter(root)
    return r


def locate(r: Reading, relative: str, kind: str, *, silent: bool = False) -> str:
    """The absolute path a manifest names, or nothing and an error; it never leaves the plugin."""
    path = os.path.normpath(os.path.join(r.root, relative))
    if "\\" in relative or os.path.isabs(relative) or not is_inside(path, r.root) or leads_out(r, path):
        r.fail("path-traversal", f"Path escapes plugin directory: {relative} ({kind})")
        return ""
    if not os.path.exists(path):
        if not silent:
            r.fail("path-not-found", f"Path not found: {path} ({kind})")
        return ""
    return path


def leads_out(r: Reading, path: str) -> bool:
    """Whether links on the way to a file leave a plugin whose links must stay inside."""
    return r.inside and not is_really_inside(path, r.root)


def children(r: Reading, directory: str) -> list[tuple[str, str, bool]]:
    """Name, real path and whether it is a directory, of what a directory holds, in the order of names."""
    if not directory:
        return []
    r.files.add(directory)
    try:
        with os.scandir(directory) as entries:
            found = sorted(entries, key=lambda entry: name_order(entry.name))
    except OSError:
        return []
    listed = []
    for entry in found:
        path = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
        if path is entry.path or not r.leaves(entry.path):
            listed.append((entry.name, path, entry.is_dir()))
    return listed


def as_list(value: Any) -> list[Any]:
    """A list, whether one or several were given."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
