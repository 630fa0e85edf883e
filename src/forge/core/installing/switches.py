"""What settings say about plugins: which are on, their options, which marketplaces are declared.

Both programs read these, so they are written to the reference's files; see decision 010. Plugins that only
Forge knows (`NAME@local`) are switched in Forge's own files.
"""

from __future__ import annotations

import os
from typing import Any

from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import patch_json, read_json
from forge.foundation.jsonpatch import Change, delete, put
from forge.foundation.origin import Scope
from forge.foundation.paths import Places, settings_file

SCOPES = ("user", "project", "local")
STRENGTH = ("local", "project", "user")
LOCAL_ORIGIN = "@local"


def shared_file(places: Places, scope: str) -> str:
    """The settings file of the reference program for a scope."""
    if scope == "user":
        return os.path.join(places.claude_dir, "settings.json")
    name = "settings.local.json" if scope == "local" else "settings.json"
    return os.path.join(places.cwd, ".claude", name)


def own_file(places: Places, scope: str) -> str:
    """Forge's settings file for a scope."""
    return settings_file(places, Scope(scope))


def switches(places: Places, scope: str) -> dict[str, bool]:
    """What a scope says about each plugin; Forge's own file has the last word."""
    found: dict[str, bool] = {}
    for path in (shared_file(places, scope), own_file(places, scope)):
        section = section_of(path, "enabledPlugins")
        found |= {key: value for key, value in section.items() if isinstance(value, bool)}
    return found


def switch_state(places: Places, plugin_id: str) -> tuple[str, bool] | None:
    """The strongest scope that mentions a plugin, and what it says; None when none does."""
    for scope in STRENGTH:
        found = switches(places, scope).get(plugin_id)
        if found is not None:
            return scope, found
    return None


def switch(places: Places, scope: str, plugin_id: str, value: bool | None) -> None:
    """Turns a plugin on or off in a scope; None takes the entry out."""
    path = ("enabledPlugins", plugin_id)
    change = delete(path) if value is None else put(path, value)
    own, shared = own_file(places, scope), shared_file(places, scope)
    for_forge_only = plugin_id.endswith(LOCAL_ORIGIN)
    # An entry in Forge's file is stronger: it must not contradict the one beside it.
    if for_forge_only or plugin_id in section_of(own, "enabledPlugins"):
        change_settings(own, scope, [change])
    if not for_forge_only:
        change_settings(shared, scope, [change])


def declare_market(places: Places, scope: str, name: str, source: dict[str, Any]) -> None:
    """Names a marketplace in the settings of a scope, so that the others who share them find it."""
    change_settings(
        shared_file(places, scope), scope, [put(("extraKnownMarketplaces", name, "source"), source)]
    )


def declared_market(places: Places, scope: str, name: str) -> dict[str, Any] | None:
    """The source a scope's settings give for a marketplace."""
    entry = section_of(shared_file(places, scope), "extraKnownMarketplaces").get(name)
    source = entry.get("source") if isinstance(entry, dict) else None
    return source if isinstance(source, dict) else None


def change_settings(path: str, scope: str, changes: list[Change]) -> None:
    """Patches a settings file; taking something out never makes one."""
    if os.path.exists(path) or any(change.action == "put" for change in changes):
        patch_json(path, changes, private=scope != "project")


def section_of(path: str, key: str) -> dict[str, Any]:
    """An object of a settings file; empty when there is none."""
    try:
        content, _ = read_json(path)
    except (FileNotFoundError, NotADirectoryError, ConfigError):
        return {}
    section = content.get(key) if isinstance(content, dict) else None
    return section if isinstance(section, dict) else {}
