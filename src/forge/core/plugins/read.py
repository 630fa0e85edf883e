"""Reads a plugin directory into one contribution; what is wrong with it is reported, never raised."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.core.components.catalog import Contribution
from forge.core.components.kinds import PluginRoot
from forge.core.plugins.agent_standard import NAMESPACE, add_standard_servers, read_standard
from forge.core.plugins.configs import (
    add_events,
    read_extras,
    read_hooks,
    read_languages,
    read_servers,
    read_settings,
)
from forge.core.plugins.entry import Merged, merge_entry
from forge.core.plugins.hooks_file import judge_events
from forge.core.plugins.manifest import Form, Found, Manifest, manifest_of, read_manifest
from forge.core.plugins.manifest_check import schema_errors
from forge.core.plugins.options import saved_values, sensitive_keys
from forge.core.plugins.parts import read_agents, read_commands, read_skills, read_styles
from forge.core.plugins.reading import PluginError, Reading, Unloadable, begin
from forge.core.plugins.wasm_file import read_wasm
from forge.foundation.origin import Origin

NOTHING = Contribution()


class How(msgspec.Struct, frozen=True):
    """Everything about reading a plugin that is not the directory itself.

    `error_id` names it in errors about its parts, `failure_id` where it is not loaded at all. `bare` accepts
    a plugin.json at the root, `inside` keeps links from leaving the directory, `root_skill` looks for a
    SKILL.md at the root, `found` is the manifest when it was read before.
    """

    entry: dict[str, Any] | None = None
    options: Mapping[str, Any] = {}
    secrets: Mapping[str, Any] = {}
    data_dir: str = ""
    error_id: str = ""
    failure_id: str = ""
    bare: bool = True
    inside: bool = False
    root_skill: bool = True
    found: Found | None = None

    def __repr__(self) -> str:
        # Without options and secrets.
        return f"How(error_id={self.error_id!r}, bare={self.bare}, inside={self.inside})"


class PluginLoad(msgspec.Struct, frozen=True):
    """A plugin as it was read. One that is not `loaded` contributes nothing; `errors` say why.

    `files` are what it was read from: unless one of them changes it stays the same.

    `conflict`: the marketplace entry contradicts the manifest; hosts do not report that, lists do.
    """

    id: str
    name: str
    root: str
    form: Form
    manifest: Manifest | None = None
    version: str | None = None
    contribution: Contribution = NOTHING
    errors: list[PluginError] = []
    files: list[str] = []
    loaded: bool = True
    conflict: bool = False


def read_plugin(root: str, plugin_id: str, origin: Origin, how: How | None = None) -> PluginLoad:
    """Reads manifest and components of a directory; nothing of it is run."""
    how = how or How()
    found = how.found or read_manifest(root, bare=how.bare)
    failure = how.failure_id or plugin_id
    if found.form is not Form.STANDARD and (found.corrupt or found.errors):
        return _failed(found, plugin_id, failure, f"Failed to load plugin: {found.failure}")
    merged = merge_entry(found, how.entry)
    if merged.conflict:
        wrong = "has conflicting manifests: both plugin.json and the marketplace entry name components."
        return _failed(found, plugin_id, failure, f"Plugin {plugin_id} {wrong}", conflict=True)
    wrong_entry = schema_errors({"name": "x", **merged.raw}) if found.form is Form.NONE and how.entry else []
    if wrong_entry:
        reasons = ", ".join(map(str, wrong_entry))
        return _failed(
            found, plugin_id, failure, f"Failed to load plugin: its marketplace entry is invalid: {reasons}"
        )
    manifest = found.manifest or manifest_of(merged.raw, os.path.basename(root.rstrip("/")))
    reading = _begin(root, plugin_id, origin, how, (manifest, merged.raw, found.path))
    try:
        settings = _read(reading, found, merged, how)
    except Unloadable as reason:
        return _failed(found, plugin_id, failure, f"Failed to load plugin: {reason}")
    return PluginLoad(
        id=plugin_id,
        name=manifest.name,
        root=root,
        form=found.form,
        manifest=manifest,
        version=manifest.version if manifest.version is not None else (how.entry or {}).get("version"),
        contribution=_contribution(reading, settings),
        errors=reading.errors,
        files=sorted(reading.files | _watched(root)),
    )


def _begin(
    root: str, plugin_id: str, origin: Origin, how: How, what: tuple[Manifest, dict[str, Any], str]
) -> Reading:
    manifest, raw, path = what
    options = raw.get("userConfig")
    plugin = PluginRoot(
        id=plugin_id,
        name=manifest.name,
        root=root.rstrip("/"),
        data=how.data_dir,
        options=saved_values(options, how.options, how.secrets),
        sensitive=sensitive_keys(options),
    )
    own = Origin(origin.scope, path or root, plugin_id)
    return begin(plugin.root, how.error_id or plugin_id, plugin, own, inside=how.inside)


def _read(r: Reading, found: Found, merged: Merged, how: How) -> dict[str, Any]:
    read_wasm(r)
    if found.form is Form.STANDARD:
        read_standard(r, found)
        return {}
    raw, added = merged.raw, merged.added
    read_commands(r, raw, added.get("commands"))
    read_agents(r, raw, added.get("agents"))
    read_skills(r, raw, only_listed=merged.only_skills, root_too=how.root_skill)
    read_styles(r, raw, added.get("outputStyles"))
    read_extras(r, {**raw, "themes": added["themes"]} if "themes" in added else raw)
    read_hooks(r, raw)
    _entry_hooks(r, merged.events)
    read_servers(r, raw)
    add_standard_servers(r, found)
    read_languages(r, raw)
    return read_settings(r, raw)


def _watched(root: str) -> set[str]:
    """The directories and manifests that tell when a part is added or taken away."""
    folders = ("hooks", "monitors", "skills", Form.FORGE.value, Form.CLAUDE.value, NAMESPACE)
    inner = (*folders, "plugin.json", "mcp.json")
    return {root, *(f"{root}/{name}" for name in inner)}


def _entry_hooks(r: Reading, events: Any) -> None:
    """Hooks of a marketplace entry take the place of the plugin's own for the same events."""
    if events is None:
        return
    if not isinstance(events, dict):
        r.fail("hook-load-failed", "Hook load failed: a path is not yet supported in a marketplace entry")
        return
    replaced = set(judge_events(events).events)
    kept = [
        msgspec.structs.replace(h, events={k: v for k, v in h.events.items() if k not in replaced})
        for h in r.hooks
    ]
    r.hooks[:] = [source for source in kept if source.events]
    add_events(r, events, r.origin.path)


def _contribution(r: Reading, settings: dict[str, Any]) -> Contribution:
    tools = r.has("bin")
    return Contribution(
        # The registry prefers what is added last: a command wins over the skill of the same name.
        skills=[*r.skills, *r.commands],
        agents=r.agents,
        styles=r.styles,
        servers=list(r.servers.values()),
        languages=list(r.languages.values()),
        wasm=r.wasm,
        hooks=r.hooks,
        extras=r.extras,
        bin_dirs=[tools] if tools and os.path.isdir(tools) else [],
        settings=settings,
        diagnostics=r.diagnostics,
    )


def _failed(
    found: Found, plugin_id: str, failure_id: str, message: str, *, conflict: bool = False
) -> PluginLoad:
    name = found.manifest.name if found.manifest else os.path.basename(found.root.rstrip("/"))
    error = PluginError(failure_id, "generic-error", message, found.root)
    return PluginLoad(
        plugin_id,
        name,
        found.root,
        found.form,
        found.manifest,
        errors=[error],
        loaded=False,
        conflict=conflict,
    )
