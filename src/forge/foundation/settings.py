"""Settings of all scopes and dialects: reading them into one value with origins, and writing single keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from forge.foundation.atomic import update_text
from forge.foundation.environment import withhold_untrusted
from forge.foundation.errors import UsageError
from forge.foundation.gitdir import common_dir
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import Change, append, delete, put, remove
from forge.foundation.origin import Diagnostic, Scope
from forge.foundation.paths import Places, settings_file
from forge.foundation.settings_files import judge, read_layer
from forge.foundation.settings_merge import Layer, Settings, build
from forge.foundation.settings_policy import flag_layer, inline_managed, managed_layers
from forge.foundation.toml_settings import patch_toml, read_toml, toml_file_with

__all__ = [
    "Layer",
    "Settings",
    "SettingsRequest",
    "append_to_list",
    "apply_flag",
    "load_settings",
    "parse_setting_sources",
    "remove_from_list",
    "remove_setting",
    "write_setting",
]

SOURCES = ("user", "project", "local")

Key = str | tuple[str, ...]


class SettingsRequest(msgspec.Struct, frozen=True):
    """What the command line says about settings; `sources` None means all of user, project and local."""

    sources: list[str] | None = None
    flag: str | None = None
    managed: str | None = None


def load_settings(p: Places, r: SettingsRequest, *, trusted: bool) -> Settings:
    """Reads every settings file that counts; raises only where the reference refuses to start."""
    notes: list[Diagnostic] = []
    layers = read_toml(p, notes) if r.sources is None or "user" in r.sources else []
    for wanted in _files(p, SOURCES if r.sources is None else r.sources):
        layer, found = read_layer(wanted)
        # In the home directory the project file is the user file.
        if layer is None or not any(os.path.samefile(layer.path, other.path) for other in layers):
            _add(layers, notes, (layer, found))
    if r.flag:
        _add(layers, notes, flag_layer(p, r.flag))
    managed, problems = managed_layers(p)
    notes += problems
    if r.managed and not managed:
        _add(managed, notes, inline_managed(r.managed))
    layers += managed
    if not trusted:
        layers, withheld = withhold_untrusted(layers)
        notes += withheld
    return build(p, layers, notes)


def apply_flag(settings: Settings, changes: dict[str, Any]) -> Settings:
    """The settings after a host changed top-level keys of the flag layer; None clears a key."""
    flags = [layer for layer in settings.layers if layer.scope is Scope.FLAG]
    old = flags[0] if flags else Layer(Scope.FLAG, "apply_flag_settings", {})
    data = {**old.data, **changes}
    new, notes = judge(old, {key: value for key, value in data.items() if value is not None})
    others = [layer for layer in settings.layers if layer.scope is not Scope.FLAG]
    managed = [layer for layer in others if layer.scope is Scope.MANAGED]
    lower = [layer for layer in others if layer.scope is not Scope.MANAGED]
    return build(settings.places, [*lower, new or old, *managed], [*settings.diagnostics, *notes])


def parse_setting_sources(text: str) -> list[str]:
    """The value of --setting-sources as a list."""
    names = [name.strip() for name in text.split(",")] if text else []
    for name in names:
        if name not in SOURCES:
            raise UsageError(
                f"Error processing --setting-sources: Invalid setting source: {name}. "
                f"Valid options are: {', '.join(SOURCES)}"
            )
    return names


def write_setting(p: Places, scope: Scope, key: Key, value: Any) -> bool:
    """Sets one key in the settings file of a scope; False when it had that value already."""
    return _write(p, scope, key, lambda path: put(path, value))


def remove_setting(p: Places, scope: Scope, key: Key) -> bool:
    """Removes one key from the settings file of a scope; False when it is not there."""
    return _write(p, scope, key, delete, creates=False)


def append_to_list(p: Places, scope: Scope, key: Key, values: Sequence[Any]) -> bool:
    """Adds to a list what it does not have yet."""
    return _write(p, scope, key, lambda path: append(path, values))


def remove_from_list(p: Places, scope: Scope, key: Key, values: Sequence[Any]) -> bool:
    """Takes values out of a list."""
    return _write(p, scope, key, lambda path: remove(path, values), creates=False)


def _files(p: Places, sources: Sequence[str]) -> list[Layer]:
    names = {p.claude_dir: ".claude", p.forge_home: ".forge"}
    found = []
    for source, scope, directories in (
        ("user", Scope.USER, p.user_dirs),
        ("project", Scope.PROJECT, p.project_dirs),
        ("local", Scope.LOCAL, p.local_dirs),
    ):
        name = "settings.local.json" if scope is Scope.LOCAL else "settings.json"
        for directory in directories if source in sources else ():
            dialect = names.get(directory) or os.path.basename(directory)
            anchor = directory if scope is Scope.USER else p.cwd
            found.append(Layer(scope, os.path.join(directory, name), {}, dialect, anchor))
    return found


def _add(layers: list[Layer], notes: list[Diagnostic], found: tuple[Layer | None, list[Diagnostic]]) -> None:
    if found[0] is not None:
        layers.append(found[0])
    notes += found[1]


def _write(
    p: Places, scope: Scope, key: Key, change: Callable[[tuple[str, ...]], Change], *, creates: bool = True
) -> bool:
    path = tuple(key.split(".")) if isinstance(key, str) else key
    toml = toml_file_with(p, path) if scope is Scope.USER else ""
    if toml:
        return patch_toml(toml, change(path))
    file = settings_file(p, scope)
    if not creates and not os.path.exists(file):
        return False
    if scope is Scope.LOCAL:
        _ignore_in_git(p)
    return patch_json(file, [change(path)], private=scope is not Scope.PROJECT)


def _ignore_in_git(p: Places) -> None:
    """Local settings are personal: the first write tells this clone's git, without touching tracked files."""
    git = common_dir(p.repository) if p.repository else ""
    if not git or os.path.exists(settings_file(p, Scope.LOCAL)):
        return
    line = "**/.forge/settings.local.json"

    def with_line(text: str) -> str:
        if line in text.splitlines():
            return text
        end = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{end}{line}\n"

    update_text(os.path.join(git, "info", "exclude"), with_line, private=False)
