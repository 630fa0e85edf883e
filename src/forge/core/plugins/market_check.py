"""The rules of marketplace.json: its head, its entries and their sources."""

from __future__ import annotations

import os
import re
from typing import Any

from forge.core.plugins.manifest import Form, read_manifest
from forge.core.plugins.manifest_check import Checked, check_manifest, installable_name, reserved_name
from forge.core.plugins.manifest_shape import AUTHOR, FIELDS
from forge.core.plugins.market import OFFICIAL
from forge.core.plugins.shape import (
    ANY,
    BOOLEAN,
    STRING,
    STRING_MAP,
    STRINGS,
    Finding,
    Issue,
    Shape,
    check,
    choice,
    kind_of,
    one_of,
    prefix,
    soft,
    suffix,
    text,
)
from forge.foundation.settings_hooks import EVENTS
from forge.foundation.suggest import closest

_KEPT = {
    "inline": "--plugin-dir session plugins",
    "builtin": "built-in plugins",
    "skills-dir": "plugins in directories of skills",
    "synced": "plugins of an account",
    "claude-plugin-test": "tests",
}
_SHA = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_LOCAL_HOST = re.compile(r"https://(localhost|127\.|169\.254\.|\[::1\]|metadata\.)")


def _market_name(name: str) -> list[Issue]:
    if not name:
        return soft("Marketplace must have a name")
    found: list[Issue] = []
    if " " in name:
        found += soft('Marketplace name cannot contain spaces. Use kebab-case (e.g., "my-marketplace")')
    if "/" in name or "\\" in name or ".." in name or name == ".":
        wrong = 'path separators (/ or \\), ".." sequences, or be "."'
        found += soft(f"Marketplace name cannot contain {wrong}")
    if name.lower() in _KEPT:
        found += soft(f'Marketplace name "{name}" is reserved for {_KEPT[name.lower()]}')
    if _imitates(name):
        found += soft("Marketplace name impersonates an official Anthropic/Claude marketplace")
    return found


def _imitates(name: str) -> bool:
    lower = name.lower()
    claims = "official" in lower and ("claude" in lower or "anthropic" in lower)
    return not name.isascii() or (claims and lower not in OFFICIAL)


def _commit(value: str) -> list[Issue]:
    size = "" if len(value) == 40 else "Too small" if len(value) < 40 else "Too big"
    found = soft(f"{size}: expected string to have exactly 40 characters") if size else []
    right = _SHA.fullmatch(value)
    return found if right else found + soft("Must be a full 40-character lowercase git commit SHA")


def _archive(url: str) -> list[Issue]:
    if url.startswith("https://") and not _LOCAL_HOST.match(url):
        return []
    where = "a loopback, link-local, or cloud-metadata host"
    return soft(f"Archive URLs must use https:// and must not point at {where}")


def _seconds(value: float) -> list[Issue]:
    if value <= 0:
        return soft("Too small: expected number to be >0")
    return [] if value <= 600 else soft("Too big: expected number to be <=600")


def _digest(value: str) -> list[Issue]:
    return [] if _DIGEST.fullmatch(value) else soft("Must be a 64-character hex SHA-256 digest")


def _package(value: str) -> list[Issue]:
    return [Issue((), "Invalid input")] if ".." in value or not value else []


def _new_name(value: Any) -> list[Issue]:
    right = value is None or isinstance(value, str)
    return [] if right else [Issue((), f"Invalid input: expected string, received {kind_of(value)}")]


def _source(kind: str, required: str, **fields: Shape) -> Shape:
    keys = {"source": choice(kind), **fields}
    return Shape("object", keys=keys, required=("source", *required.split()))


_PINNED = {"ref": STRING, "sha": text(_commit)}
_SOURCES = (
    _source("github", "repo", repo=STRING, **_PINNED),
    _source("url", "url", url=STRING, **_PINNED),
    _source("git-subdir", "url path", url=STRING, path=STRING, **_PINNED),
    _source("npm", "package", package=text(_package), version=STRING, registry=STRING),
    _source("archive", "url", url=text(_archive), sha256=text(_digest)),
    _source(
        "command",
        "command",
        command=STRING,
        timeout=Shape("number", rules=(_seconds,)),
        mode=choice("copy link"),
    ),
)
_HOOK_FILE = text(prefix("./"), suffix(".json"))
_HOOK_MAP = Shape("object", keys=dict.fromkeys(EVENTS, ANY), strict=True)
_ENTRY_FIELDS = {
    **{key: shape for key, shape in FIELDS.items() if key not in ("themes", "monitors")},
    "hooks": one_of(_HOOK_FILE, _HOOK_MAP, Shape("array", items=one_of(_HOOK_FILE, Shape("record")))),
    "headers": STRING_MAP,
    "headersHelper": STRING,
    "category": STRING,
    "tags": STRINGS,
    "strict": BOOLEAN,
}
_QUIET = ("relevance", "metadata", "engines", "experimental", "source", "themes", "monitors")


def _entry(root: str) -> Shape:
    def path(value: str) -> list[Issue]:
        bare = bool(root) and re.fullmatch(r"[^./\\][^/\\]*", value) is not None
        return [] if value == "." or bare else prefix("./")(value)

    keys = {**_ENTRY_FIELDS, "source": one_of(text(path), *_SOURCES)}
    return Shape("object", keys=keys, required=("name", "source"))


_METADATA = {"pluginRoot": STRING, "version": STRING, "description": STRING}
_HEAD = {
    "$schema": STRING,
    "name": text(_market_name),
    "version": STRING,
    "description": STRING,
    "owner": AUTHOR,
    "plugins": Shape("array"),
    "forceRemoveDeletedPlugins": BOOLEAN,
    "metadata": Shape("object", keys=_METADATA),
    "allowCrossMarketplaceDependenciesOn": STRINGS,
    "renames": Shape("record", items=Shape("any", rules=(_new_name,))),
}


def check_market(raw: Any, root: str) -> Checked:
    """All a validator says about a marketplace whose paths start at `root`, manifests in it included."""
    if not isinstance(raw, dict):
        return Checked([Finding("root", "marketplace must be an object")])
    errors = check(raw, Shape("object", keys=_HEAD, required=("name", "owner", "plugins")))
    official = str(raw.get("name")).lower() in OFFICIAL
    plugins = raw.get("plugins") if isinstance(raw.get("plugins"), list) else []
    entry = _entry(_plugin_root(raw))
    objections, warnings = _name_of_market(raw.get("name")), _unknown(raw, _HEAD, "")
    for number, item in enumerate(plugins or ()):
        errors += [
            Finding(f"plugins.{number}{'.' if e.path else ''}{e.path}", e.message) for e in check(item, entry)
        ]
        if isinstance(item, dict):
            objections += _entry_objections(item, f"plugins[{number}]", raw, official)
            warnings += _entry_warnings(item, f"plugins[{number}]", official)
    if not errors:
        objections += _twice(plugins or []) + _dead_renames(raw, plugins or [])
        inner = [_plugin(item, number, (root, raw)) for number, item in enumerate(plugins or ())]
        objections += [error for checked in inner for error in checked.errors]
        warnings += _advice(raw, plugins or []) + [w for checked in inner for w in checked.warnings]
    return Checked(errors, objections, warnings)


def _plugin_root(raw: dict[str, Any]) -> str:
    metadata = raw.get("metadata")
    root = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    return root if isinstance(root, str) else ""


def _name_of_market(name: Any) -> list[Finding]:
    if not isinstance(name, str) or not name or installable_name(name):
        return []
    rule = 'letters, digits, ".", "_" and "-", starting with a letter or digit'
    return [Finding("name", f'Plugins cannot be installed from marketplace "{name}": use only {rule}.')]


def _entry_objections(item: dict[str, Any], place: str, raw: dict[str, Any], official: bool) -> list[Finding]:
    found: list[Finding] = []
    name, source = item.get("name"), item.get("source")
    if isinstance(source, str):
        if ".." in source.split("/"):
            where = "paths start at the directory that holds .claude-plugin"
            found.append(Finding(f"{place}.source", f'Path contains "..": {source}; {where}.'))
        elif re.fullmatch(r"[^./\\:][^/\\:]*", source) and not _plugin_root(raw):
            message = f'Bare source name "{source}" requires metadata.pluginRoot.'
            found.append(Finding(f"{place}.source", message))
    reserved = reserved_name(name, official)
    if reserved:
        found.append(Finding(f"{place}.name", reserved))
    elif isinstance(name, str) and name and not installable_name(name):
        rule = 'use only letters, digits, ".", "_" and "-"'
        found.append(Finding(f"{place}.name", f'Plugin "{name}" cannot be installed: {rule}.'))
    return found


def _entry_warnings(item: dict[str, Any], place: str, official: bool) -> list[Finding]:
    found = _unknown(item, {**_ENTRY_FIELDS, **dict.fromkeys(_QUIET)}, f"{place}.")
    for key in ("relevance", "metadata"):
        if key in item and not isinstance(item[key], dict):
            message = f"'{key}' must be an object; got {kind_of(item[key])}. It is ignored."
            found.append(Finding(f"{place}.{key}", message))
    name = item.get("name")
    if isinstance(name, str) and name:
        named = check_manifest({"name": name}, official=official).warnings
        about = [w for w in named if w.path == "name" and "kebab-case" not in w.message]
        if not installable_name(name):
            about.append(Finding("name", f'Other programs do not accept the plugin name "{name}".'))
        found += [Finding(f"{place}.name", warning.message) for warning in about]
    return found


def _unknown(raw: dict[str, Any], known: dict[str, Any], place: str) -> list[Finding]:
    found = []
    for key in raw:
        if key not in known:
            meant = closest(key, known)
            advice = f" — did you mean '{meant}'?" if meant else ";"
            found.append(Finding(f"{place}{key}", f"Unknown field '{key}'{advice} It is ignored."))
    inner = raw.get("metadata")
    if not place and isinstance(inner, dict):
        odd = [key for key in inner if key not in _METADATA]
        found += [Finding(f"metadata.{key}", f"Unknown field '{key}'; it is ignored.") for key in odd]
    if not place and _name_of_market(raw.get("name")):
        found.append(Finding("name", "Other programs do not accept this name of a marketplace."))
    return found


def _twice(plugins: list[Any]) -> list[Finding]:
    names = [item["name"] for item in plugins]
    return [
        Finding(f"plugins[{number}].name", f'Duplicate plugin name "{name}" found in marketplace')
        for number, name in enumerate(names)
        if names.count(name) > 1
    ]


def _dead_renames(raw: dict[str, Any], plugins: list[Any]) -> list[Finding]:
    renames = raw.get("renames") or {}
    names = {item["name"] for item in plugins}
    found = []
    for old in renames:
        target, steps = renames[old], 0
        while isinstance(target, str) and target not in names and target in renames and steps <= len(renames):
            target, steps = renames[target], steps + 1
        if target is not None and target not in names:
            reason = "cycle" if steps > len(renames) else "target-missing"
            rule = "target must be a name in plugins[], a key in renames, or null"
            found.append(Finding(f"renames.{old}", f"chain does not resolve ({reason}) — {rule}"))
    return found


def _advice(raw: dict[str, Any], plugins: list[Any]) -> list[Finding]:
    found = [] if plugins else [Finding("plugins", "Marketplace has no plugins defined")]
    metadata = raw.get("metadata")
    described = raw.get("description") or (isinstance(metadata, dict) and metadata.get("description"))
    if not described:
        found.append(Finding("description", "No description of the marketplace is given."))
    return found


def _plugin(item: dict[str, Any], number: int, market: tuple[str, dict[str, Any]]) -> Checked:
    """What the manifest of a plugin inside the marketplace has to say for itself."""
    source, (root, raw) = item["source"], market
    if not isinstance(source, str) or ".." in source.split("/"):
        return Checked()
    start = _plugin_root(raw) if not source.startswith(".") else ""
    found = read_manifest(os.path.normpath(os.path.join(root, start, source)), bare=False)
    if found.form is Form.NONE or found.form is Form.STANDARD:
        return Checked()
    place = f"plugins[{number}] plugin.json → "
    if found.corrupt:
        return Checked([Finding(f"{place}json", f"Invalid JSON syntax: {found.corrupt}")])
    checked = check_manifest(found.raw, official=True, lenient=found.form is Form.FORGE)
    warnings = [Finding(f"{place}{w.path}", w.message) for w in checked.warnings]
    own = found.manifest.version if found.manifest else None
    if own is not None and item.get("version") not in (None, own):
        message = f'Entry declares version "{item["version"]}" but plugin.json says "{own}", which counts.'
        warnings.insert(0, Finding(f"plugins[{number}].version", message))
    return Checked([Finding(f"{place}{e.path}", e.message) for e in checked.errors], warnings=warnings)
