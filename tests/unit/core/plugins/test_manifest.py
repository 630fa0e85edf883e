from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.manifest import Dependency, Form, Manifest, read_manifest
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import put
from unit.core.plugins.plugin_tree import MANIFEST, plant


@pytest.mark.requirement("S1-12")
def test_the_first_manifest_in_the_probe_order_counts(tmp_path: Path) -> None:
    files = [".forge-plugin/plugin.json", MANIFEST, "plugin.json"]
    plant(tmp_path, {file: {"name": f"from-{number}"} for number, file in enumerate(files)})
    found = []
    for file in files:
        one = read_manifest(str(tmp_path))
        found.append((one.form, one.manifest.name if one.manifest else None))
        (tmp_path / file).unlink()
    assert found == [(Form.FORGE, "from-0"), (Form.CLAUDE, "from-1"), (Form.BARE, "from-2")]
    assert read_manifest(str(tmp_path)).form is Form.NONE


def test_a_bare_manifest_counts_only_where_it_is_wanted(tmp_path: Path) -> None:
    plant(tmp_path, {"plugin.json": {"name": "x"}})
    assert read_manifest(str(tmp_path), bare=False).form is Form.NONE


@pytest.mark.requirement("S0-08", "S0-42", "S1-01", "S0-41")
def test_a_full_manifest_is_read_into_a_typed_view(tmp_path: Path) -> None:
    raw = {
        "name": "full",
        "version": "abc",
        "description": "d",
        "displayName": "Full",
        "author": {"name": "Ann", "email": "a@example.org"},
        "homepage": "https://example.org",
        "repository": "https://example.org/full.git",
        "license": "MIT",
        "keywords": ["a", "b"],
        "commands": ["./commands"],
        "agents": "./agents/a.md",
        "skills": "./skills",
        "hooks": "./hooks.json",
        "mcpServers": {"s": {"command": "x"}},
        "lspServers": "./.lsp.json",
        "dependencies": ["a", "b@m", {"name": "c", "marketplace": "m", "version": "^1"}],
        "defaultEnabled": False,
        "userConfig": {"k": {"type": "string", "title": "t", "description": "d"}},
        "colour": "red",
    }
    plant(tmp_path, {MANIFEST: raw})
    assert read_manifest(str(tmp_path)).manifest == Manifest(
        name="full",
        raw=raw,
        version="abc",
        description="d",
        display_name="Full",
        dependencies=[Dependency("a"), Dependency("b", "m"), Dependency("c", "m", "^1")],
        default_enabled=False,
        options={"k": {"type": "string", "title": "t", "description": "d"}},
    )


FORMS: list[dict[str, Any]] = [
    {},
    {"author": "Ann"},
    {"author": {"name": "Ann", "email": "a@example.org", "url": "https://example.org"}},
    *({kind: form} for kind in ("commands", "agents", "skills") for form in ("./one", ["./one", "./two"])),
]


@pytest.mark.requirement("S1-02", "S1-03", "S1-04")
@pytest.mark.parametrize("file", [".forge-plugin/plugin.json", "plugin.json"])
@pytest.mark.parametrize("raw", FORMS)
def test_manifests_of_forge_need_no_name(file: str, raw: dict[str, Any], tmp_path: Path) -> None:
    plant(tmp_path / "x", {file: raw})
    found = read_manifest(str(tmp_path / "x")).manifest
    assert found and found.name == "x"


@pytest.mark.requirement("S1-06")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n "name": x}', "expected a value at line 2, column 10"),
        ("", "Unexpected EOF (the file is empty)"),
    ],
)
def test_broken_json_is_an_error_with_file_and_position(text: str, message: str, tmp_path: Path) -> None:
    plant(tmp_path, {MANIFEST: text})
    found = read_manifest(str(tmp_path))
    assert found.manifest is None
    assert found.failure.startswith(f"Plugin {tmp_path.name} has a corrupt manifest file at {found.path}. ")
    assert found.corrupt == message


def test_a_byte_order_mark_is_tolerated(tmp_path: Path) -> None:
    plant(tmp_path, {MANIFEST: '\ufeff{"name": "bom"}'})
    found = read_manifest(str(tmp_path)).manifest
    assert found and found.name == "bom"


def test_all_schema_errors_are_in_the_failure(tmp_path: Path) -> None:
    plant(tmp_path, {MANIFEST: {"name": "", "version": 1}})
    found = read_manifest(str(tmp_path))
    wrong = "name: Plugin name cannot be empty, version: Invalid input: expected string, received number"
    assert found.failure == (
        f"Plugin {tmp_path.name} has an invalid manifest file at {found.path}. Validation errors: {wrong}"
    )


@pytest.mark.requirement("S0-08", "S0-09")
@pytest.mark.parametrize("file", [MANIFEST, ".mcp.json"])
def test_writing_one_field_leaves_the_rest_as_it_is(file: str, tmp_path: Path) -> None:
    text = '{\n    "name": "p", "colour": [1,\n 2],\n    "version": "1"\n}'
    plant(tmp_path, {file: text})
    patch_json(str(tmp_path / file), [put(("version",), "2")])
    assert (tmp_path / file).read_text(encoding="utf-8") == text.replace('"1"', '"2"')
    patch_json(str(tmp_path / file), [put(("version",), "2")])
    assert (tmp_path / file).read_text(encoding="utf-8") == text.replace('"1"', '"2"')
