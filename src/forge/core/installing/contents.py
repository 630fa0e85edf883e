"""What a plugin brings, in a few lines, for whoever has to decide whether to trust it."""

from __future__ import annotations

import os
from typing import Any

from forge.core.plugins.manifest import Manifest

WARNING = (
    "A plugin can run programs, change what the model is told and see what you work on. "
    "Install it only if you trust where it comes from."
)
_FOLDERS = (
    ("skills", "skills"),
    ("commands", "commands"),
    ("agents", "agents"),
    ("output styles", "output-styles"),
    ("executables", "bin"),
    ("workflows", "workflows"),
)
_FILES = (
    ("hooks", "hooks/hooks.json"),
    ("MCP servers", ".mcp.json"),
    ("language servers", ".lsp.json"),
    ("WebAssembly tools", "dev.forge/wasm-tools.json"),
)
_KEYS = {
    "hooks": "hooks",
    "mcpServers": "MCP servers",
    "lspServers": "language servers",
    "skills": "skills",
    "commands": "commands",
    "agents": "agents",
}


def describe_contents(root: str, manifest: Manifest, title: str) -> str:
    """Name, description, author, components and the warning."""
    lines = [title]
    lines += [f"  {manifest.description}"] if manifest.description else []
    author = _author(manifest.raw.get("author"))
    lines += [f"  by {author}"] if author else []
    found = components(root, manifest)
    lines.append(f"  brings: {', '.join(found) if found else 'nothing that Forge knows'}")
    return "\n".join([*lines, WARNING, ""])


def components(root: str, manifest: Manifest) -> list[str]:
    """The kinds of components there are, with names where folders give them."""
    found = []
    for label, folder in _FOLDERS:
        names = _names(os.path.join(root, folder))
        if names:
            found.append(f"{label} ({', '.join(names)})")
    found += [label for label, file in _FILES if os.path.isfile(os.path.join(root, file))]
    listed = [label for key, label in _KEYS.items() if manifest.raw.get(key)]
    return found + [f"{label} named in the manifest" for label in listed]


def _names(folder: str) -> list[str]:
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name.removesuffix(".md") for name in entries if not name.startswith(".")]


def _author(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(str(value[key]) for key in ("name", "email", "url") if value.get(key))
    return value if isinstance(value, str) else ""
