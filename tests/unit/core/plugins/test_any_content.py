from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from forge.core.plugins.candidates import Request
from forge.core.plugins.discover import discover
from forge.core.plugins.manifest_shape import FIELDS
from forge.core.plugins.validate import validate
from forge.foundation.paths import find_places
from unit.core.plugins.plugin_tree import MANIFEST, plant

WORDS = [
    *FIELDS,
    *("source", "content", "command", "args", "env", "url", "type", "hooks", "matcher", "Stop", "PreToolUse"),
    *("options", "default", "title", "extensionToLanguage", "experimental", "monitors", "plugins", "owner"),
    *(
        "repo",
        "sha",
        "path",
        "package",
        "timeout",
        "renames",
        "metadata",
        "pluginRoot",
        "mcpServers",
        "modules",
    ),
]
TEXTS = [
    "",
    ".",
    "./",
    "./x",
    "./x.json",
    "./x.md",
    "../x",
    "x",
    "stdio",
    "http",
    "command",
    "string",
    "github",
    "a b",
]
SCALARS = st.sampled_from([None, True, False, 0, -1, 1.5, *TEXTS])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
FILES = (
    MANIFEST,
    "plugin.json",
    ".claude-plugin/marketplace.json",
    "hooks/hooks.json",
    ".mcp.json",
    ".lsp.json",
)


@settings(max_examples=60)
@given(content=st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=6))
def test_no_manifest_can_raise(content: dict[str, Any]) -> None:
    look_at({MANIFEST: {"name": "p", **content}, ".claude-plugin/marketplace.json": content})
    look_at({".forge-plugin/plugin.json": content, "x.md": "x", "skills/SKILL.md": "x"})


@settings(max_examples=60)
@given(contents=st.fixed_dictionaries({}, optional=dict.fromkeys(FILES, VALUES)))
def test_no_file_of_a_plugin_can_raise(contents: dict[str, Any]) -> None:
    look_at({name: json.dumps(content) for name, content in contents.items()})


def look_at(files: dict[str, Any]) -> None:
    with TemporaryDirectory() as directory:
        root = plant(Path(directory) / "p", files)
        validate(root, strict=True)
        places = find_places({"HOME": directory}, directory)
        discover(Request(places, plugin_dirs=[root]))
