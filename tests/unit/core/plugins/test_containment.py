"""No path of a manifest, and no link of an installed copy, brings in anything from outside the plugin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.read import How
from unit.core.plugins.plugin_tree import MANIFEST, STOP, TEXT, load, plant

SERVER = {"m": {"command": "true"}}
LANGUAGE = {"l": {"command": "l", "extensionToLanguage": {".l": "l"}}}
MONITOR = [{"name": "m", "command": "true", "description": "d"}]
# Key of the manifest, what it would lead to, whether that is a directory.
PLACES: list[tuple[str, str, Any]] = [
    ("skills", "store", None),
    ("commands", "c.md", TEXT),
    ("commands", "store", None),
    ("agents", "a.md", TEXT),
    ("hooks", "h.json", {"hooks": STOP}),
    ("mcpServers", "m.json", SERVER),
    ("lspServers", "l.json", LANGUAGE),
    ("outputStyles", "s.md", TEXT),
    ("outputStyles", "store", None),
    ("workflows", "w.js", "x"),
    ("experimental.themes", "t.json", {"name": "t"}),
    ("experimental.monitors", "n.json", MONITOR),
]
FORMS = ["./../outside/{}", "./in/../../outside/{}", "./in/../../../{}/outside/{}", ".\\..\\outside\\{}"]


def outside(root: Path) -> None:
    plant(root / "outside", {name: content for _, name, content in PLACES if content is not None})
    plant(root / "outside/store", {"x/SKILL.md": TEXT, "y.md": TEXT, "bin/tool": "x"})


def parts(plugin: Any) -> list[Any]:
    c = plugin.contribution
    return [
        *c.skills,
        *c.agents,
        *c.styles,
        *c.servers,
        *c.languages,
        *c.hooks,
        *c.extras,
        *c.wasm,
        *c.bin_dirs,
    ]


def manifest(key: str, path: str) -> dict[str, Any]:
    outer, _, inner = key.partition(".")
    return {"name": "p", outer: {inner: path} if inner else path}


@pytest.mark.requirement("S0-44")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("key", "name"), [(key, name) for key, name, _ in PLACES])
def test_no_key_of_a_manifest_leads_outside(key: str, name: str, form: str, tmp_path: Path) -> None:
    outside(tmp_path)
    path = form.format(*([tmp_path.name] if form.count("{}") == 2 else []), name)
    plugin = load(tmp_path / "p", {MANIFEST: manifest(key, path), "in/x": ""})
    assert parts(plugin) == []


@pytest.mark.requirement("S0-44")
@pytest.mark.parametrize(("key", "name"), [(key, name) for key, name, _ in PLACES])
def test_an_absolute_path_makes_a_manifest_invalid(key: str, name: str, tmp_path: Path) -> None:
    outside(tmp_path)
    plugin = load(tmp_path / "p", {MANIFEST: manifest(key, str(tmp_path / "outside" / name))})
    assert (plugin.loaded, parts(plugin)) == (False, [])


@pytest.mark.requirement("S0-44")
@pytest.mark.parametrize(("key", "name"), [(key, name) for key, name, _ in PLACES])
@pytest.mark.parametrize("deep", [False, True])
def test_no_key_follows_a_link_out_of_an_installed_copy(
    key: str, name: str, deep: bool, tmp_path: Path
) -> None:
    outside(tmp_path)
    (tmp_path / "p").mkdir()
    link = tmp_path / "p" / ("way" if deep else name)
    os.symlink(tmp_path / "outside" / ("" if deep else name), link)
    path = f"./way/{name}" if deep else f"./{name}"
    plugin = load(tmp_path / "p", {MANIFEST: manifest(key, path)}, How(inside=True))
    assert parts(plugin) == []


@pytest.mark.requirement("S0-44", "S0-12")
@pytest.mark.parametrize(
    ("module", "found"),
    [("../../outside.wasm", 0), ("/outside.wasm", 0), ("link.wasm", 0), ("own.wasm", 1)],
)
def test_no_wasm_module_comes_from_outside(module: str, found: int, tmp_path: Path) -> None:
    (tmp_path / "outside.wasm").write_bytes(b"\0asm")
    plant(tmp_path / "p/dev.forge", {"own.wasm": "x"})
    os.symlink(tmp_path / "outside.wasm", tmp_path / "p/dev.forge/link.wasm")
    named = f"{tmp_path}{module}" if module.startswith("/") else module
    tool = {"description": "d", "module": named, "inputSchema": {"type": "object"}}
    files = {MANIFEST: {"name": "p"}, "dev.forge/wasm-tools.json": {"version": 1, "tools": {"t": tool}}}
    assert len(parts(load(tmp_path / "p", files, How(inside=True)))) == found
