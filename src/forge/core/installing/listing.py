"""Lists plugins: what is installed, whether it is on and what is wrong with it, and what could be had."""

from __future__ import annotations

import os
from typing import Any

from forge.core.installing.fetch import relative_path
from forge.core.installing.located import Folder, folder_of
from forge.core.installing.request import Request, pretty
from forge.core.installing.switches import SCOPES, switch_state, switches
from forge.core.plugins.candidates import LOCAL, SKILLS
from forge.core.plugins.candidates import Request as Search
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.discover import (
    ACTIVE,
    DISABLED,
    FAILED,
    SHADOWED,
    Discovered,
    Plugin,
    discover,
)
from forge.core.plugins.installed import Installation, visible_installed
from forge.core.plugins.known import read_known
from forge.core.plugins.manifest import read_manifest
from forge.core.plugins.market import Entry, Market, read_market
from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.foundation.trust import is_trusted

Row = dict[str, Any]

_TIMES = ("installedAt", "lastUpdated", "projectPath")

CONFLICT = (
    "Plugin {} has conflicting manifests: both plugin.json and marketplace entry specify components. "
    "Set strict: true "
    "in marketplace entry or remove component specs from one location."
)


def list_plugins(request: Request, context: Context) -> Outcome:
    """`list`; with --json and --available also what the marketplaces offer."""
    if request.words:
        raise UsageError(f"Too many arguments: {request.words[0]!r} is not expected.")
    found = find_all(context)
    here = sorted(visible_installed(context.layout, context.places.cwd), key=lambda one: one.id)
    rows = [_row(one, found, context) for one in here]
    rows += _local_rows(found, context) + _skill_rows(found, context)
    if not request.json:
        return Outcome(_text(rows))
    if request.on("--available"):
        taken = {row["id"] for row in rows}
        return Outcome(pretty({"installed": rows, "available": _available(taken, context)}))
    return Outcome(pretty(rows))


def find_all(context: Context) -> Discovered:
    """Every plugin as a trusted session here would find it; nothing of it is run."""
    enabled: dict[str, bool] = {}
    for scope in SCOPES:
        enabled |= switches(context.places, scope)
    own = context.setting("plugins", {})
    for name, entry in own.items() if isinstance(own, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("enabled"), bool):
            enabled.setdefault(f"{name}@local", entry["enabled"])
    return discover(Search(context.places, env=context.env, enabled=enabled, trusted=True))


def _row(one: Installation, found: Discovered, context: Context) -> Row:
    folder = folder_of(one, context)
    plugin = next((p for p in found.plugins if p.id == one.id and p.kind == "installed"), None)
    state = switch_state(context.places, one.id)
    errors = _errors(one, plugin, found)
    record: Row = {key: one.record[key] for key in _TIMES if key in one.record}
    row: Row = {
        "id": one.id,
        "version": one.version,
        "scope": one.scope,
        "enabled": state is not None and state[1],
        "installPath": one.path,
    }
    if folder.in_place:
        row["readFromFolder"] = folder.path
        version = _folder_version(folder)
        if version and not (plugin and "conflicting manifests" in plugin.reason):
            row["folderVersion"] = version
    row |= record
    if errors:
        row |= {"errors": [text for text, _ in errors], "errorDetails": [detail for _, detail in errors]}
    servers = _servers(plugin)
    if servers:
        row["mcpServers"] = servers
    row["projectEnabled"] = switches(context.places, "project").get(one.id) is True
    if folder.manifest is not None and folder.manifest.options:
        row["hasUserConfig"] = True
    return row


def _folder_version(folder: Folder) -> str:
    stated = folder.manifest.version if folder.manifest is not None else None
    entry = folder.entry.raw.get("version") if folder.entry is not None else None
    return stated or (entry if isinstance(entry, str) else "")


def _errors(one: Installation, plugin: Plugin | None, found: Discovered) -> list[tuple[str, dict[str, Any]]]:
    if plugin is not None and "conflicting manifests" in plugin.reason:
        return [(CONFLICT.format(one.name), {"type": "generic-error"})]
    errors: list[tuple[str, dict[str, Any]]] = []
    for error in found.errors:
        if error.plugin == one.id:
            detail: dict[str, Any] = {"type": error.type}
            if error.type.startswith("dependency-"):
                detail |= {"plugin": one.name, "dependency": error.message.split('"')[1]}
            errors.append((error.message, detail))
    return errors


def _servers(plugin: Plugin | None) -> dict[str, Any]:
    if plugin is None or plugin.load is None:
        return {}
    found = {}
    for component in plugin.load.contribution.servers:
        config = component.value.config
        found[component.name.rpartition(":")[2]] = {**config, "args": config.get("args") or []} | (
            {} if "command" in config else {"args": None}
        )
    return {name: {k: v for k, v in config.items() if v is not None} for name, config in found.items()}


def _local_rows(found: Discovered, context: Context) -> list[Row]:
    """Plugins that lie in a directory for plugins, without a marketplace; weaker copies are shown as such."""
    rows = []
    for plugin in found.plugins:
        if plugin.kind != LOCAL:
            continue
        state = switch_state(context.places, plugin.id)
        row: Row = {
            "id": plugin.id,
            "version": plugin.version or "unknown",
            "scope": "user" if plugin.scope is Scope.USER else "project",
            "enabled": plugin.state != SHADOWED and (state is None or state[1]),
            "installPath": plugin.root,
            "source": source_of(plugin),
        }
        if plugin.state == SHADOWED:
            row["shadowed"] = plugin.reason
        errors = [e for e in found.errors if e.plugin == plugin.id] if plugin.state == FAILED else []
        if errors:
            row |= {"errors": [e.message for e in errors], "errorDetails": [{"type": e.type} for e in errors]}
        manifest = plugin.candidate.found.manifest if plugin.candidate else None
        if manifest is not None and manifest.options:
            row["hasUserConfig"] = True
        rows.append(row)
    return rows


def source_of(plugin: Plugin) -> str:
    """Whose directory a plugin without a marketplace lies in: `claude` or `forge`."""
    return (
        "claude" if os.path.basename(os.path.dirname(os.path.dirname(plugin.root))) == ".claude" else "forge"
    )


def _skill_rows(found: Discovered, context: Context) -> list[Row]:
    """Folders of skills that are plugins: those that work, those that are off, those that are broken."""
    trusted = is_trusted(context.places)
    mine = [p for p in found.plugins if p.kind == SKILLS and (trusted or p.scope is Scope.USER)]
    order = (ACTIVE, SHADOWED, DISABLED, FAILED)
    rows = []
    for plugin in sorted(mine, key=lambda p: order.index(p.state) if p.state in order else 9):
        broken = plugin.state == FAILED
        row: Row = {
            "id": plugin.id,
            "version": plugin.version or "unknown",
            "scope": "user" if plugin.scope is Scope.USER else "project",
            "enabled": plugin.state == ACTIVE,
            "installPath": "" if broken else plugin.root,
        }
        if broken:
            errors = [e for e in found.errors if e.plugin == plugin.id]
            path = plugin.candidate.found.path if plugin.candidate else ""
            row |= {
                "errors": [error.message for error in errors],
                "errorDetails": [{"type": error.type, "path": path} for error in errors],
            }
        rows.append(row)
    return rows


def _available(taken: set[str], context: Context) -> list[Row]:
    rows = []
    for known in read_known(context.layout).values():
        try:
            market = read_market(known)
        except PluginFailure:
            continue
        for entry in market.entries:
            if f"{entry.name}@{known.name}" not in taken:
                rows.append(_offer_row(entry, market, known.name))
    return rows


def _offer_row(entry: Entry, market: Market, name: str) -> Row:
    row: Row = {"pluginId": f"{entry.name}@{name}", "name": entry.name}
    about, source = entry.raw.get("description"), entry.source
    if isinstance(source, str):
        folder = relative_path(source, market)
        if not source.startswith("."):
            source = f"./{os.path.relpath(folder, market.root)}"
        own = read_manifest(folder, bare=False).manifest if about is None else None
        about = own.description or None if own is not None else about
    row |= {"description": about} if isinstance(about, str) else {}
    row["marketplaceName"] = name
    version = entry.raw.get("version")
    row |= {"version": version} if isinstance(version, str) else {}
    return {**row, "source": source}


def _text(rows: list[Row]) -> str:
    if not rows:
        return "No plugins installed. Use `forge plugin install` to install a plugin.\n"
    lines = ["Installed plugins:", ""]
    for row in rows:
        lines += [f"  ❯ {row['id']}", f"    Version: {row['version']}"]
        if "readFromFolder" in row:
            lines.append(f"    Read from: {row['readFromFolder']}")
        lines.append(f"    Scope: {row['scope']}")
        if "source" in row:
            lines.append(f"    Source: {row['source']} ({row['installPath']})")
        failed = row["enabled"] and row.get("errors")
        status = "✘ failed to load" if failed else "✔ enabled" if row["enabled"] else "✘ disabled"
        status = f"✘ shadowed: {row['shadowed']}" if "shadowed" in row else status
        lines.append(f"    Status: {status}")
        lines += [f"    Error: {error}" for error in row.get("errors", [])]
        lines.append("")
    return "\n".join(lines) + "\n"
