"""What one plugin brings, piece by piece, and roughly what that costs in tokens."""

from __future__ import annotations

import msgspec

from forge.core.installing.listing import find_all, source_of
from forge.core.installing.located import folder_of
from forge.core.installing.request import Request, pretty
from forge.core.installing.uninstall import find_installed
from forge.core.plugins.candidates import LOCAL
from forge.core.plugins.context import Context, Outcome
from forge.core.plugins.discover import Plugin
from forge.core.plugins.read import read_plugin
from forge.foundation.atomic import read_text
from forge.foundation.origin import Origin, Scope

_CHARACTERS_PER_TOKEN = 4
_SMALL = 20


class Piece(msgspec.Struct, frozen=True):
    """A component and its size in tokens: always, and when it is used."""

    name: str
    always: int
    used: int


def details(request: Request, context: Context) -> Outcome:
    """`details NAME`, also called `info`."""
    name = request.word("name")
    plugin = _find(name, context)
    if plugin is None:
        text = (
            f'Plugin "{name}" not found. Run `forge plugin list` to see installed plugins, '
            "or pass --plugin-dir <path> to load one from disk.\n"
        )
        return Outcome("", text, 1)
    load = plugin.load or read_plugin(plugin.root, plugin.id, Origin(Scope.PLUGIN, plugin.root, plugin.id))
    own = load.contribution
    pieces = [
        *(_piece(c.name, c.value.description, c.origin.path) for c in own.skills),
        *(_piece(c.name, c.value.description, c.origin.path) for c in own.agents),
    ]
    events = sorted({event for source in own.hooks for event in source.events})
    inventory = {
        "Skills": [_short(c.name) for c in own.skills],
        "Agents": [_short(c.name) for c in own.agents],
        "Hooks": events,
        "MCP servers": [_short(c.name) for c in own.servers],
        "LSP servers": [_short(c.name) for c in own.languages],
    }
    if own.wasm:
        inventory["WebAssembly tools"] = [c.value.name for c in own.wasm]
    about = _description(plugin, context)
    if request.json:
        return Outcome(pretty(_value(plugin, about, inventory, pieces)))
    return Outcome(_text(plugin, about, inventory, pieces))


def _find(name: str, context: Context) -> Plugin | None:
    found = find_all(context).plugins
    wanted = {name} | {one.id for one in find_installed(name, context)}
    exact = [plugin for plugin in found if plugin.id in wanted]
    return next(iter(exact or [plugin for plugin in found if plugin.name == name]), None)


def _description(plugin: Plugin, context: Context) -> str:
    """The marketplace's words come before the plugin's own."""
    for one in find_installed(plugin.id, context):
        entry = folder_of(one, context).raw_entry or {}
        if isinstance(entry.get("description"), str):
            return str(entry["description"])
    return plugin.description


def _text(plugin: Plugin, about: str, inventory: dict[str, list[str]], pieces: list[Piece]) -> str:
    lines = [f"{plugin.name} {plugin.version}" if plugin.version else plugin.name]
    lines += [f"  Description: {about}"] if about else []
    lines.append(f"  Source: {plugin.id}{_provenance(plugin)}")
    lines += [f"  State: {plugin.state}"] if plugin.state != "active" else []
    lines += [f"  {plugin.reason}"] if plugin.reason else []
    lines += ["", "Component inventory"]
    for label, names in inventory.items():
        note = _NOTES.get(label, "") if names else ""
        lines.append(f"  {label} ({len(names)})" + (f"  {', '.join(names)}" if names else "") + note)
    total = sum(piece.always for piece in pieces)
    lines += ["", "Projected token cost", f"  Always-on:   ~{total} tok   added to every session"]
    if pieces:
        width = max(9, *(len(_short(piece.name)) for piece in pieces))
        lines += ["", "Per-component (rounded)", f"  {'component':<{width}}  always-on  on-invoke"]
        for piece in pieces:
            lines.append(f"  {_short(piece.name):<{width}}  {_cost(piece.always):>9}  {_cost(piece.used):>9}")
        lines += ["", "  On-invoke cost is paid each time a skill or agent fires."]
    lines.append("  Token counts are estimates and may differ from actual usage.")
    return "\n".join(lines) + "\n"


def _provenance(plugin: Plugin) -> str:
    """The id under which a plugin of Claude Code's own directory was known before there were marketplaces."""
    return f" (claude.{plugin.name})" if plugin.kind == LOCAL and source_of(plugin) == "claude" else ""


_NOTES = {
    "Hooks": "  (harness-only — no model context cost)",
    "MCP servers": "  (tool schemas resolved at runtime; not counted)",
}


def _value(
    plugin: Plugin, about: str, inventory: dict[str, list[str]], pieces: list[Piece]
) -> dict[str, object]:
    return {
        "id": plugin.id,
        "name": plugin.name,
        "version": plugin.version,
        "description": about,
        "path": plugin.root,
        "state": plugin.state,
        "reason": plugin.reason,
        "components": inventory,
        "tokens": [{"component": p.name, "alwaysOn": p.always, "onInvoke": p.used} for p in pieces],
    }


def _piece(name: str, description: str, path: str) -> Piece:
    try:
        size = len(read_text(path))
    except OSError:
        size = 0
    return Piece(name, _tokens(len(f"- {name}: {description}")), _tokens(size))


def _tokens(characters: int) -> int:
    return (characters + _CHARACTERS_PER_TOKEN - 1) // _CHARACTERS_PER_TOKEN


def _cost(tokens: int) -> str:
    return f"< {_SMALL}" if tokens < _SMALL else f"~{round(tokens, -1)}"


def _short(name: str) -> str:
    return name.rpartition(":")[2]
