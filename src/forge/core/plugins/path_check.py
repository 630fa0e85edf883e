"""Whether the places a manifest names exist and stay inside the plugin, for validators."""

from __future__ import annotations

import os
from typing import Any

from forge.core.plugins.manifest_shape import is_bundle
from forge.core.plugins.reading import as_list
from forge.core.plugins.shape import Finding

# These are numbered even when there is only one.
_NUMBERED = ("commands", "hooks", "agents", "skills", "workflows")
_PLAIN = ("outputStyles", "lspServers", "mcpServers", "types")


def check_paths(raw: dict[str, Any], root: str) -> list[Finding]:
    """An error for every path that is missing, leaves the plugin or is of the wrong kind."""
    places: list[tuple[str, Any]] = []
    for key in (*_NUMBERED, *_PLAIN):
        places += _places(key, raw.get(key), numbered=key in _NUMBERED)
    inner = raw.get("experimental")
    experimental = inner if isinstance(inner, dict) else {}
    for key in ("themes", "monitors"):
        places += _places(f"experimental.{key}", experimental.get(key), numbered=False)
    commands = raw.get("commands")
    for name, entry in commands.items() if isinstance(commands, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("source"), str):
            places.append((f"commands.{name}.source", entry["source"]))
    checked = [(place, _problem(place, path, root)) for place, path in places if isinstance(path, str)]
    return [Finding(place, problem) for place, problem in checked if problem]


def _places(key: str, value: Any, *, numbered: bool) -> list[tuple[str, Any]]:
    if isinstance(value, list) or numbered:
        return [(f"{key}[{number}]", item) for number, item in enumerate(as_list(value))]
    return [(key, value)]


def _problem(place: str, path: str, root: str) -> str:
    if path.startswith(("http://", "https://")):
        return "" if is_bundle(path) or place.startswith("mcpServers") else f"Path not found: {path}."
    if ".." in path.split("/"):
        return f'Path contains ".." which could be a path traversal attempt: {path}'
    full = os.path.join(root, path)
    if not os.path.exists(full):
        return f"Path not found: {path}."
    if place.startswith("skills") and not os.path.isdir(full):
        advice = f"point to the parent directory '{os.path.dirname(path)}' instead"
        return f"Path is a file; skills entries must be directories containing SKILL.md — {advice}: {path}"
    return ""
