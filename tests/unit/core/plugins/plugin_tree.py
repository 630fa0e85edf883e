"""Plugin directories for tests: files from a table, and the names a load brings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from forge.core.plugins.candidates import Request
from forge.core.plugins.discover import Discovered
from forge.core.plugins.read import How, PluginLoad, read_plugin
from forge.foundation.origin import Origin, Scope
from forge.foundation.paths import find_places

MANIFEST = ".claude-plugin/plugin.json"
TEXT = "---\ndescription: d\n---\nbody\n"
STOP = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}


def plant(root: Path, files: dict[str, Any]) -> str:
    """Writes files below a directory; what is not text becomes JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    root.mkdir(parents=True, exist_ok=True)
    return str(root)


def load(root: Path, files: dict[str, Any], how: How | None = None) -> PluginLoad:
    """Reads a plugin made of these files."""
    plant(root, files)
    return read_plugin(str(root), "p@test", Origin(Scope.PLUGIN, str(root), "p@test"), how)


def names(plugin: PluginLoad) -> dict[str, list[str]]:
    """The names of all components, empty kinds left out."""
    own = plugin.contribution
    found = {
        "skills": [c.name for c in own.skills if not c.value.is_command],
        "commands": [c.name for c in own.skills if c.value.is_command],
        "agents": [c.name for c in own.agents],
        "styles": [c.name for c in own.styles],
        "servers": [c.name for c in own.servers],
        "languages": [c.name for c in own.languages],
        "extras": [f"{e.kind} {e.name}" for e in own.extras],
    }
    return {kind: sorted(values) for kind, values in found.items() if values}


def errors(plugin: PluginLoad | Discovered) -> list[tuple[str, str]]:
    """Who and what failed, without the wording."""
    return [(error.plugin, error.type) for error in plugin.errors]


def request(home: Path, cwd: Path | None = None, **more: Any) -> Request:
    """A request for a start directory in a home of its own."""
    cwd = cwd or home / "work"
    os.makedirs(cwd, exist_ok=True)
    places = find_places({"HOME": str(home)}, str(cwd), str(home / "managed"))
    return Request(places, **more)
