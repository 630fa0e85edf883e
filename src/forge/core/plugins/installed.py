"""The record of installed plugins, `installed_plugins.json`; unknown keys survive every change."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from forge.core.plugins.layout import Layout, split_id
from forge.foundation.ids import timestamp
from forge.foundation.jsonfile import read_json, update_json

Record = dict[str, Any]
Records = dict[str, list[Record]]


class Installation(msgspec.Struct, frozen=True):
    """One plugin in one scope."""

    id: str
    scope: str
    path: str
    version: str
    record: Record

    @property
    def name(self) -> str:
        return split_id(self.id)[0]

    @property
    def market(self) -> str:
        return split_id(self.id)[1]

    @property
    def project(self) -> str:
        return _text(self.record, "projectPath")

    @property
    def automatic(self) -> bool:
        return self.record.get("auto") is True


def read_installed(layout: Layout) -> list[Installation]:
    """Every recorded installation, in the order of the file; an unreadable record is left out."""
    try:
        content, _ = read_json(layout.installed)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [
        Installation(plugin_id, _text(r, "scope"), _text(r, "installPath"), _text(r, "version"), r)
        for plugin_id, records in _plugins(content).items()
        for r in records
    ]


def visible_installed(layout: Layout, cwd: str) -> list[Installation]:
    """The installations that count in a directory: the user's, and those made for this project."""
    return [one for one in read_installed(layout) if applies(one, cwd)]


def applies(one: Installation, cwd: str) -> bool:
    """Whether an installation counts in a directory."""
    if one.scope not in ("project", "local"):
        return True
    return os.path.realpath(one.project) == os.path.realpath(cwd)


def record_installed(layout: Layout, plugin_id: str, new: Record, now: float) -> None:
    """Adds an installation, or brings the one of the same scope and project up to date."""

    def change(plugins: Records) -> None:
        records = plugins.setdefault(plugin_id, [])
        stamp = timestamp(now)
        old = next((r for r in records if _same_place(r, new)), None)
        if old is None:
            records.append({**new, "installedAt": stamp, "lastUpdated": stamp})
        else:
            for key in ("gitCommitSha", "sourceCommand", "sourceProducerPath"):
                old.pop(key, None)
            old |= {**new, "lastUpdated": stamp}

    _change(layout, change)


def forget_installed(layout: Layout, gone: Callable[[str, Record], bool]) -> None:
    """Removes the installations for which `gone(id, record)` is true."""

    def change(plugins: Records) -> None:
        for plugin_id, records in list(plugins.items()):
            plugins[plugin_id] = [r for r in records if not gone(plugin_id, r)]
            if not plugins[plugin_id]:
                del plugins[plugin_id]

    if os.path.exists(layout.installed):
        _change(layout, change)


def keep_on_purpose(layout: Layout, plugin_id: str) -> None:
    """A dependency that is now installed by name is no longer swept away with what needed it."""

    def change(plugins: Records) -> None:
        for record in plugins.get(plugin_id, []):
            record.pop("auto", None)

    _change(layout, change)


def _change(layout: Layout, change: Callable[[Records], None]) -> None:
    def changed(content: dict[str, Any]) -> dict[str, Any]:
        plugins = _plugins(content)
        change(plugins)
        return {**content, "version": 2, "plugins": plugins}

    update_json(layout.installed, changed)


def _plugins(content: Any) -> Records:
    """The records by id; version 1 of the file had one object per plugin, without a scope."""
    plugins = content.get("plugins") if isinstance(content, dict) else None
    found: Records = {}
    for plugin_id, value in plugins.items() if isinstance(plugins, dict) else ():
        records = value if isinstance(value, list) else [value]
        usable = [{"scope": "user", **r} for r in records if isinstance(r, dict)]
        if usable:
            found[plugin_id] = usable
    return found


def _same_place(one: Record, other: Record) -> bool:
    return one.get("scope") == other.get("scope") and one.get("projectPath") == other.get("projectPath")


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
