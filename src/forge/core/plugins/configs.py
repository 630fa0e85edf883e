"""Hooks, servers and everything else that a plugin brings as JSON."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.components.kinds import Extra, HookSource, LspServer, ServerEntry
from forge.core.plugins.hooks_file import file_issues, judge_events
from forge.core.plugins.manifest_shape import LSP_MAP, MCP_SERVER, MONITORS, is_bundle
from forge.core.plugins.options import fill_defaults
from forge.core.plugins.reading import Reading, Unloadable, as_list, children, locate
from forge.core.plugins.shape import check
from forge.core.registry import Component
from forge.foundation.atomic import read_text
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import parse_json

SETTINGS = ("agent", "subagentStatusLine")
_WRAPPERS = ("mcpServers", "mcp_servers")


def read_hooks(r: Reading, raw: dict[str, Any]) -> None:
    """The hooks of `hooks/hooks.json` and of the manifest; Unloadable when a guard is broken."""
    default = r.has("hooks/hooks.json")
    if default:
        _hooks_file(r, default)
    for item in as_list(raw.get("hooks")):
        if isinstance(item, dict):
            add_events(r, item, r.origin.path)
        else:
            path = locate(r, item, "hooks")
            if path:
                _hooks_file(r, path)


def add_events(r: Reading, events: dict[str, Any], path: str) -> None:
    """Takes over the hooks of an event map that can run; the others are noted."""
    judged = judge_events(events)
    if judged.fatal:
        raise Unloadable("; ".join(judged.fatal))
    for dropped in judged.dropped:
        r.warn(dropped, path)
    if judged.events:
        r.hooks.append(HookSource(r.at(path), judged.events, r.plugin))


def _hooks_file(r: Reading, path: str) -> None:
    if not r.claim(path):
        return
    content = _json(r, path)
    if isinstance(content, ConfigError):
        r.fail("hook-load-failed", f"Hook load failed: {content.message}")
        return
    wrong = file_issues(content)
    if any(issue.path == ("hooks",) for issue in wrong):
        raise Unloadable("hooks: must be an object mapping event names to matcher arrays")
    if wrong:
        r.fail("hook-load-failed", f"Hook load failed: {path}: {wrong[0].message}")
        return
    for module in content.get("modules", ()):
        place = os.path.normpath(os.path.join(os.path.dirname(path), str(module)))
        if not os.path.isfile(place):
            r.fail("path-not-found", f"Path not found: {place} (hooks)")
            continue
        r.extras.append(Extra("hooks-module", str(module), module, r.at(path)))
        r.warn(f"the hooks module {module} is not run", path, "Forge has no JavaScript engine.")
    add_events(r, content.get("hooks", {}), path)


def read_servers(r: Reading, raw: dict[str, Any]) -> None:
    """The MCP servers of `.mcp.json` and of the manifest; of two with one name the later counts."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    default = r.has(".mcp.json")
    if default:
        found |= _server_file(r, default)
    for item in as_list(raw.get("mcpServers")):
        if isinstance(item, dict):
            found |= {name: (config, r.origin.path) for name, config in item.items()}
        elif is_bundle(item):
            r.extras.append(Extra("mcp-bundle", item, item, r.origin))
            r.warn(
                f"the packed server {item} is not started", r.origin.path, "Unpack it, or name its command."
            )
        else:
            path = locate(r, item, "mcpServers", silent=True)
            found |= _server_file(r, path) if path else {}
    options = raw.get("userConfig")
    for name, (config, path) in found.items():
        add_server(r, name, fill_defaults(config, options, r.plugin.options), path)


def add_server(r: Reading, name: str, config: dict[str, Any], path: str) -> None:
    """Takes over a server unless one that does the same is there."""
    full = f"plugin:{r.name}:{name}"
    for other in r.servers.values():
        if _same_server(other.value.config, config):
            r.warn(f"the server {name} is the same as {other.name}", path, "It is started once.")
            return
    r.servers[full] = Component(full, ServerEntry(config, r.plugin), r.at(path))


def _same_server(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if "command" in one and "command" in other:
        return (one["command"], one.get("args") or []) == (other["command"], other.get("args") or [])
    return "url" in one and one["url"] == other.get("url")


def _server_file(r: Reading, path: str) -> dict[str, tuple[dict[str, Any], str]]:
    content = _json(r, path)
    if isinstance(content, ConfigError):
        r.warn(content.message, path, "Its servers are missing.")
        return {}
    for wrapper in _WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(wrapper), dict):
            content = content[wrapper]
    found = {}
    for name, config in content.items() if isinstance(content, dict) else ():
        wrong = check(config, MCP_SERVER)
        if wrong:
            r.warn(
                f"the server {name} is not usable ({wrong[0].message})", path, "Expected a command or a url."
            )
        else:
            found[name] = (config, path)
    return found


def read_languages(r: Reading, raw: dict[str, Any]) -> None:
    """The language servers of `.lsp.json` and of the manifest."""
    default = r.has(".lsp.json")
    if default:
        _language_file(r, default)
    for item in as_list(raw.get("lspServers")):
        if isinstance(item, dict):
            _languages(r, item, r.origin.path)
        else:
            path = locate(r, item, "lspServers", silent=True)
            if path:
                _language_file(r, path)


def _language_file(r: Reading, path: str) -> None:
    content = _json(r, path)
    wrong = (
        [content.message] if isinstance(content, ConfigError) else [str(w) for w in check(content, LSP_MAP)]
    )
    if wrong:
        r.warn(f"its language servers are not used ({wrong[0]})", path)
    elif isinstance(content, dict):
        _languages(r, content, path)


def _languages(r: Reading, entries: dict[str, Any], path: str) -> None:
    for name, entry in entries.items():
        server = msgspec.structs.replace(msgspec.convert(entry, LspServer), plugin=r.plugin)
        full = f"plugin:{r.name}:{name}"
        r.languages[full] = Component(full, server, r.at(path))


def read_extras(r: Reading, raw: dict[str, Any]) -> None:
    """Monitors, themes and workflows: kept, not run."""
    inner = raw.get("experimental")
    experimental = inner if isinstance(inner, dict) else {}
    _files(r, experimental.get("themes", raw.get("themes")), ("themes", "theme", ".json"))
    _monitors(r, experimental.get("monitors", raw.get("monitors")))
    _files(r, raw.get("workflows"), ("workflows", "workflow", ".js"))


def _monitors(r: Reading, named: Any) -> None:
    if isinstance(named, list):
        r.extras += [Extra("monitor", m["name"], m, r.origin) for m in named]
        return
    if named is None:
        path = r.has("monitors/monitors.json")
    else:
        path = locate(r, named, "monitors", silent=True)
        if not path:
            place = os.path.normpath(f"{r.root}/{named}")
            r.fail("component-load-failed", f"monitors load failed from {place}: no such file in the plugin")
    if not path:
        return
    content = _json(r, path)
    wrong = content.message if isinstance(content, ConfigError) else ""
    if not wrong:
        wrong = "; ".join(str(w) for w in check(content, MONITORS))
    if wrong or not isinstance(content, list):
        r.fail("component-load-failed", f"monitors load failed from {path}: {wrong}")
        return
    r.extras += [Extra("monitor", m["name"], m, r.at(path)) for m in content]


def _files(r: Reading, named: Any, what: tuple[str, str, str]) -> None:
    kind, single, ending = what
    places = [locate(r, item, kind) for item in as_list(named)] if named is not None else [r.has(kind)]
    for place in filter(None, places):
        files = (
            [place]
            if os.path.isfile(place)
            else [path for _, path, is_dir in children(r, place) if not is_dir]
        )
        for path in files:
            if path.endswith(ending) and r.claim(path):
                stem = os.path.basename(path).removesuffix(ending)
                value = _json(r, path) if ending == ".json" else path
                if isinstance(value, ConfigError):
                    r.warn(value.message, path)
                else:
                    r.extras.append(Extra(single, f"{r.name}:{stem}", value, r.at(path)))


def read_settings(r: Reading, raw: dict[str, Any]) -> dict[str, Any]:
    """The few settings a plugin may bring; its file wins over its manifest."""
    path = r.has("settings.json")
    content = _json(r, path) if path else {}
    for given in (content, raw.get("settings")):
        supported = {k: given[k] for k in SETTINGS if k in given} if isinstance(given, dict) else {}
        if supported:
            return supported
    return {}


def _json(r: Reading, path: str) -> Any:
    r.files.add(path)
    return json_or_error(path)


def json_or_error(path: str) -> Any:
    """The value of a file, or the error that says why there is none."""
    try:
        return parse_json(read_text(path), path)
    except ConfigError as error:
        return error
    except OSError as error:
        return ConfigError(f"cannot be read: {error.strerror}", path=path)
