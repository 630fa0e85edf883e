"""All plugins for a start directory: which count, which are off, shadowed, untrusted or broken, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Any

import msgspec

from forge.core.plugins.candidates import INLINE, LOCAL, SKILLS, Candidate, Request, find_candidates
from forge.core.plugins.dependencies import Needing, unmet
from forge.core.plugins.manifest import Dependency, Form
from forge.core.plugins.manifest_check import loadable_name
from forge.core.plugins.read import How, PluginLoad, read_plugin
from forge.core.plugins.reading import PluginError
from forge.foundation.origin import Diagnostic, Origin, Scope

ACTIVE, DISABLED, UNTRUSTED, SHADOWED, FAILED = "active", "disabled", "untrusted", "shadowed", "failed"

_Stamp = tuple[int, int, int] | None


class Plugin(msgspec.Struct, frozen=True):
    """A plugin and what became of it; `load` is there only for active ones."""

    id: str
    name: str
    root: str
    kind: str
    scope: Scope
    state: str
    version: str | None = None
    description: str = ""
    reason: str = ""
    load: PluginLoad | None = None
    candidate: Candidate | None = None


class Discovered(msgspec.Struct, frozen=True):
    """The plugins in the order of strength, and what is to be reported about them.

    `closed_skills` are directories of skills whose plugin is off: their own SKILL.md is not used either.
    """

    plugins: list[Plugin] = []
    errors: list[PluginError] = []
    diagnostics: list[Diagnostic] = []
    closed_skills: list[str] = []

    @property
    def active(self) -> list[Plugin]:
        return [plugin for plugin in self.plugins if plugin.state == ACTIVE]


class PluginShelf:
    """Plugins that were read before; each is read again only when one of its files has changed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[tuple[str, str], tuple[How, dict[str, _Stamp], PluginLoad]] = {}

    def read(self, root: str, plugin_id: str, origin: Origin, how: How) -> PluginLoad:
        """The plugin as it is on disk now."""
        key = (root, plugin_id)
        plain = msgspec.structs.replace(how, found=None)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0] == plain and all(_stamp(p) == s for p, s in kept[1].items()):
            return kept[2]
        load = read_plugin(root, plugin_id, origin, how)
        # What failed is read every time: it is not known which file would mend it.
        stamps = {path: _stamp(path) for path in load.files}
        with self._lock:
            if load.loaded:
                self._kept[key] = (plain, stamps, load)
        return load


def discover(request: Request, shelf: PluginShelf | None = None) -> Discovered:
    """Finds and reads all plugins; nothing of them is run, and inactive ones are not even read."""
    candidates, errors = find_candidates(request)
    states = _states(candidates, request)
    loads = _load(candidates, states, request, shelf)
    errors += [error for load in loads if load and not load.conflict for error in load.errors]
    errors += _fail_unmet(candidates, states)
    plugins = [_plugin(c, s, n) for c, s, n in zip(candidates, states, loads, strict=True)]
    plugins = _once(plugins)
    notes = [d for p in plugins if p.load and p.state == ACTIVE for d in p.load.contribution.diagnostics]
    closed = [p.root for p in plugins if p.kind == SKILLS and p.state == DISABLED]
    return Discovered(plugins, errors, notes, closed)


def _states(candidates: list[Candidate], request: Request) -> list[tuple[str, str]]:
    """State and reason of each candidate, before anything is read."""
    states = [_state(candidate, candidates, request) for candidate in candidates]
    strongest: dict[str, Candidate] = {}
    for candidate, (state, _) in zip(candidates, states, strict=True):
        if state == ACTIVE:
            best = strongest.get(candidate.name)
            strongest[candidate.name] = candidate if best is None or candidate.rank < best.rank else best
    for index, candidate in enumerate(candidates):
        winner = strongest.get(candidate.name)
        if states[index][0] == ACTIVE and winner and candidate.rank > winner.rank:
            states[index] = (SHADOWED, f"{winner.id} at {winner.root} is used instead")
    return states


def _state(candidate: Candidate, others: list[Candidate], request: Request) -> tuple[str, str]:
    if candidate.of_project and not request.trusted:
        return UNTRUSTED, "plugins of a project need a trusted workspace"
    if not _is_on(candidate, others, request.enabled):
        return DISABLED, "switched off"
    return ACTIVE, ""


def _is_on(candidate: Candidate, others: list[Candidate], enabled: Mapping[str, Any]) -> bool:
    said = enabled.get(candidate.id)
    if candidate.kind == "installed":
        local = any(other.kind == LOCAL and other.name == candidate.name for other in others)
        # `plugins.NAME.enabled` names no marketplace: it means this plugin when there is no local one.
        off = not local and enabled.get(f"{candidate.name}@{LOCAL}") is False
        return said is True and not off
    if isinstance(said, bool):
        return said
    manifest = candidate.found.manifest
    entry = (candidate.entry or {}).get("defaultEnabled")
    default = entry if isinstance(entry, bool) else manifest.default_enabled if manifest else None
    return default is not False


def _load(
    candidates: list[Candidate], states: list[tuple[str, str]], request: Request, shelf: PluginShelf | None
) -> list[PluginLoad | None]:
    loads: list[PluginLoad | None] = []
    for index, candidate in enumerate(candidates):
        load = None
        if states[index][0] == ACTIVE:
            load = _refused(candidate) or _unreadable(candidate) or _read(candidate, request, shelf)
            if not load.loaded:
                states[index] = (FAILED, load.errors[0].message)
        loads.append(load)
    return loads


def _refused(candidate: Candidate) -> PluginLoad | None:
    """A plugin whose name would make ids and component names ambiguous."""
    if candidate.found.manifest is None or loadable_name(candidate.name) or candidate.kind == "installed":
        return None
    rule = (
        "must be non-empty and must not contain ”@”, ”:”, whitespace, path separators, or"
        " invisible/control characters"
    )
    where = f"(in {candidate.found.path})"
    message = (
        f"Manifest validation failed: name: ”{candidate.name}” is not a valid plugin name ({rule}) {where}"
    )
    label = candidate.failure_id or candidate.id
    error = PluginError(label, "manifest-validation-error", message, candidate.root)
    found = candidate.found
    return PluginLoad(candidate.id, candidate.name, found.root, found.form, errors=[error], loaded=False)


def _unreadable(candidate: Candidate) -> PluginLoad | None:
    """A folder of skills whose manifest is no JSON; its own SKILL.md stays a skill."""
    found = candidate.found
    if candidate.kind != SKILLS or not found.corrupt:
        return None
    message = f"Manifest parse error: JSON Parse error: {found.corrupt} (in {found.path})"
    error = PluginError(candidate.id, "manifest-parse-error", message)
    return PluginLoad(candidate.id, candidate.name, found.root, found.form, errors=[error], loaded=False)


def _read(candidate: Candidate, request: Request, shelf: PluginShelf | None) -> PluginLoad:
    if request.safe:
        found = candidate.found
        return PluginLoad(candidate.id, candidate.name, found.root, found.form, found.manifest)
    options = request.configs.get(candidate.id)
    saved = options.get("options") if isinstance(options, dict) else None
    how = How(
        entry=candidate.entry,
        options=saved if isinstance(saved, dict) else {},
        secrets=request.secrets.get(candidate.id) or {},
        data_dir=request.layout.data(candidate.id),
        error_id=candidate.error_id,
        failure_id=candidate.failure_id,
        bare=candidate.kind == LOCAL,
        inside=candidate.inside,
        root_skill=candidate.kind != SKILLS,
        found=candidate.found,
    )
    origin = Origin(Scope.PLUGIN, candidate.root, candidate.id)
    return (shelf.read if shelf else read_plugin)(candidate.root, candidate.id, origin, how)


def _fail_unmet(candidates: list[Candidate], states: list[tuple[str, str]]) -> list[PluginError]:
    def needing(state: str) -> list[Needing]:
        pairs = zip(candidates, states, strict=True)
        return [_needing(candidate) for candidate, (now, _) in pairs if now == state]

    errors = unmet(needing(ACTIVE), needing(DISABLED))
    reasons = {error.plugin: error.message for error in errors}
    for index, candidate in enumerate(candidates):
        if states[index][0] == ACTIVE and candidate.id in reasons:
            states[index] = (FAILED, reasons[candidate.id])
    return errors


def _needing(candidate: Candidate) -> Needing:
    manifest = candidate.found.manifest
    dependencies: list[Dependency] = manifest.dependencies if manifest else []
    installed = candidate.kind not in (INLINE, LOCAL, SKILLS)
    return Needing(candidate.id, candidate.name, _version(candidate), dependencies, installed)


def _version(candidate: Candidate) -> str | None:
    manifest = candidate.found.manifest
    if manifest is not None and manifest.version is not None:
        return manifest.version
    own = candidate.found.raw if candidate.found.form is Form.STANDARD else candidate.entry
    version = own.get("version") if isinstance(own, dict) else None
    return version if isinstance(version, str) else None


def _plugin(candidate: Candidate, state: tuple[str, str], load: PluginLoad | None) -> Plugin:
    manifest = candidate.found.manifest
    return Plugin(
        id=candidate.id,
        name=candidate.name,
        root=candidate.root,
        kind=candidate.kind,
        scope=candidate.scope,
        state=state[0],
        version=_version(candidate),
        description=manifest.description if manifest else "",
        reason=state[1],
        load=load if state[0] == ACTIVE else None,
        candidate=candidate,
    )


def _once(plugins: list[Plugin]) -> list[Plugin]:
    """A file that two plugins share belongs to the first."""
    seen_roots: set[str] = set()
    shared: set[str] = set()
    for plugin in plugins:
        if plugin.state == ACTIVE:
            (shared if plugin.root in seen_roots else seen_roots).add(plugin.root)
    if not shared:
        return plugins
    seen: dict[str, set[str]] = {root: set() for root in shared}
    return [_without(p, seen[p.root]) if p.load and p.root in shared else p for p in plugins]


def _without(plugin: Plugin, seen: set[str]) -> Plugin:
    load = plugin.load
    if load is None:
        return plugin
    own = load.contribution
    parts: dict[str, list[Any]] = {"skills": own.skills, "agents": own.agents, "styles": own.styles}
    kept = {key: [c for c in parts[key] if c.origin.path not in seen] for key in parts}
    seen.update(c.origin.path for part in parts.values() for c in part)
    contribution = msgspec.structs.replace(own, **kept)
    return msgspec.structs.replace(plugin, load=msgspec.structs.replace(load, contribution=contribution))


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
