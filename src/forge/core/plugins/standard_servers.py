"""MCP servers of Agent Plugins 1.0: closed variants, and the two variables that are replaced in them."""

from __future__ import annotations

import os
import re
from typing import Any

from forge.core.components.kinds import PluginRoot
from forge.core.http.url import split_url
from forge.core.plugins.shape import STRING, STRING_MAP, STRINGS, Shape, check, choice
from forge.foundation.errors import ModelError
from forge.foundation.inside import is_really_inside

_OWN = ("PLUGIN_ROOT", "PLUGIN_DATA")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BARE = re.compile(r"[^\s/\\]+")


def _variant(kind: str, *required: str, **fields: Shape) -> Shape:
    return Shape("object", keys={"type": choice(kind), **fields}, required=("type", *required), strict=True)


_VARIANTS = {
    "stdio": _variant("stdio", "command", command=STRING, args=STRINGS, env=STRING_MAP, cwd=STRING),
    "streamable-http": _variant("streamable-http", "url", url=STRING, headers=STRING_MAP),
    "sse": _variant("sse", "url", url=STRING, headers=STRING_MAP),
}


def server_problem(entry: Any, plugin: PluginRoot) -> str:
    """Why a server entry is invalid, or nothing."""
    kind = entry.get("type") if isinstance(entry, dict) else None
    variant = _VARIANTS.get(kind) if isinstance(kind, str) else None
    if variant is None:
        return f"type: expected one of {', '.join(_VARIANTS)}"
    wrong = check(entry, variant)
    if wrong:
        return str(wrong[0]) if wrong[0].path else wrong[0].message
    if kind == "stdio":
        return _command_problem(entry["command"], plugin) or _process_problem(entry, plugin)
    return _url_problem(entry["url"]) or _header_problem(entry.get("headers", {}))


def server_config(entry: dict[str, Any], plugin: PluginRoot) -> dict[str, Any]:
    """The configuration to start a valid entry with; `literal` forbids any further replacement."""
    if entry["type"] != "stdio":
        kind = "http" if entry["type"] == "streamable-http" else entry["type"]
        return {**entry, "type": kind, "literal": True}
    command = entry["command"]
    root = os.path.realpath(plugin.root)
    own = {"PLUGIN_ROOT": root, "PLUGIN_DATA": plugin.data}
    return {
        "type": "stdio",
        "command": os.path.join(root, command[2:]) if command.startswith("./") else command,
        "args": [_replaced(argument, plugin) for argument in entry.get("args", [])],
        "env": {key: _replaced(value, plugin) for key, value in entry.get("env", {}).items()} | own,
        "cwd": _cwd(entry.get("cwd", "./"), plugin),
        "literal": True,
    }


def _replaced(value: str, plugin: PluginRoot) -> str:
    """Both variables, once: what a value brings in is not looked at again."""
    known = {"PLUGIN_ROOT": os.path.realpath(plugin.root), "PLUGIN_DATA": plugin.data}
    return re.sub(r"\$\{(PLUGIN_ROOT|PLUGIN_DATA)\}", lambda match: known[match[1]], value)


def _cwd(value: str, plugin: PluginRoot) -> str:
    start = os.path.realpath(plugin.root)
    return os.path.normpath(os.path.join(start, _replaced(value, plugin)))


def _command_problem(command: str, plugin: PluginRoot) -> str:
    if command.startswith("./") and not re.search(r"[\s\\]", command):
        inside = is_really_inside(os.path.join(plugin.root, command[2:]), plugin.root)
        return "" if inside else "command: leads out of the plugin"
    right = _BARE.fullmatch(command)
    return "" if right else "command: expected one word, a bare name or ./path inside the plugin"


def _process_problem(entry: dict[str, Any], plugin: PluginRoot) -> str:
    taken = [name for name in _OWN if name in entry.get("env", {})]
    if taken:
        return f"env: {taken[0]} is set by the client"
    cwd = entry.get("cwd", "./")
    roots = {
        "./": plugin.root,
        "${PLUGIN_ROOT}": plugin.root,
        "${PLUGIN_DATA}": plugin.data,
    }
    for start, root in roots.items():
        if cwd == start or cwd.startswith(f"{start.rstrip('/')}/"):
            inside = is_really_inside(_cwd(cwd, plugin), root)
            return "" if inside else "cwd: leads out of the plugin"
    return "cwd: expected ./…, ${PLUGIN_ROOT}/… or ${PLUGIN_DATA}/…"


def _url_problem(address: str) -> str:
    if "#" in address or "\\" in address or address != address.strip():
        return "url: expected an absolute address without a fragment"
    try:
        url = split_url(address)
    except ModelError:
        return "url: expected an absolute http(s) address"
    if "@" in re.split(r"[/?]", address.partition("://")[2])[0]:
        return "url: must not hold a user or a password"
    return "" if url.scheme == "https" or url.local else "url: expected https, except on this machine"


def _header_problem(headers: dict[str, str]) -> str:
    if len({name.lower() for name in headers}) != len(headers):
        return "headers: the same name twice"
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
            return f"headers: {name!r} is not a valid header"
    return ""
