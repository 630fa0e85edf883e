from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.components.wasm_tool import WasmLimits, WasmTool
from forge.core.plugins.agent_standard import SCHEMA
from forge.core.plugins.shape import Finding
from forge.core.plugins.validate import Part, validate
from unit.core.plugins.plugin_tree import MANIFEST, load

FILE = "dev.forge/wasm-tools.json"
INPUT = {"type": "object", "properties": {"text": {"type": "string"}}}
ONE = {"description": "Counts", "module": "count.wasm", "inputSchema": INPUT}


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        ({MANIFEST: {"name": "words"}}, "words"),
        ({".forge-plugin/plugin.json": {"name": "words"}}, "words"),
        ({"plugin.json": {"$schema": SCHEMA, "name": "words"}}, "words"),
        ({"skills/x/SKILL.md": "---\ndescription: d\n---\nx"}, "root"),
    ],
)
def test_every_kind_of_plugin_can_bring_tools(tmp_path: Path, manifest: dict[str, Any], name: str) -> None:
    limits = {"fuel": 5, "memoryMb": 16, "seconds": 2.5, "outputKb": 1}
    tools = {"version": 1, "tools": {"count": {**ONE, "limits": limits}}}
    root = tmp_path / "root"
    found = load(root, {**manifest, FILE: tools, "dev.forge/count.wasm": "x"})
    assert [(c.name, c.value) for c in found.contribution.wasm] == [
        (
            f"wasm__{name}__count",
            WasmTool(
                "count",
                name,
                "p@test",
                "Counts",
                str(root / "dev.forge/count.wasm"),
                INPUT,
                WasmLimits(5, 16, 2.5, 1),
            ),
        )
    ]
    assert str(root / "dev.forge/count.wasm") in found.files


@pytest.mark.parametrize(
    ("tools", "wrong"),
    [
        ("{", "wasm tools load failed"),
        ('{"version": 2, "tools": {}}', "is of version 2; this program knows 1"),
        ('{"tools": {}}', "missing required field `version`"),
        ('{"version": 1, "tools": [], "x": 1}', "Expected `object`, got `array`"),
        ({"a": {**ONE, "grants": {}}}, "unknown field `grants`"),
        ({"a": {**ONE, "limits": {"network": 1}}}, "unknown field `network`"),
        ({"a b": ONE}, "a name consists of letters, digits, _ and -"),
        ({"a" * 60: ONE}, "is longer than 64 characters"),
        ({"a": {**ONE, "inputSchema": {}}}, 'inputSchema must be a JSON Schema with "type": "object"'),
        ({"a": {**ONE, "module": "none.wasm"}}, "there is no file"),
        ({"a": {**ONE, "module": "../../outside.wasm"}}, "its module is outside the plugin"),
        ({"a": {**ONE, "module": "/etc/passwd"}}, "its module is outside the plugin"),
        ({"a": {**ONE, "module": "link.wasm"}}, "its module is outside the plugin"),
    ],
)
def test_what_is_wrong_with_a_tool_is_reported_and_the_tool_is_missing(
    tmp_path: Path, tools: Any, wrong: str
) -> None:
    root = tmp_path / "root"
    content = tools if isinstance(tools, str) else {"version": 1, "tools": tools}
    (tmp_path / "outside.wasm").write_text("x")
    (root / "dev.forge").mkdir(parents=True)
    (root / "dev.forge/link.wasm").symlink_to(tmp_path / "outside.wasm")
    found = load(root, {MANIFEST: {"name": "w"}, FILE: content, "dev.forge/count.wasm": "x"})
    assert (found.loaded, found.contribution.wasm, len(found.errors)) == (True, [], 1)
    assert wrong in found.errors[0].message


def test_validation_names_what_is_wrong_with_the_tools(tmp_path: Path) -> None:
    root = tmp_path / "root"
    tools = {"version": 1, "tools": {"a": {**ONE, "module": "none.wasm"}, "b": ONE}}
    load(root, {MANIFEST: {"name": "w", "version": "1.0.0"}, FILE: tools, "dev.forge/count.wasm": "x"})
    report = validate(str(root))
    missing = f"a is not used: there is no file {root}/dev.forge/none.wasm"
    assert (report.success, report.contents) == (
        False,
        [Part(str(root / FILE), "wasm", [Finding("tools", missing)])],
    )


def test_a_list_of_tools_that_leads_out_of_the_plugin_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "tools.json"
    outside.write_text('{"version": 1, "tools": {}}')
    root = tmp_path / "root"
    (root / "dev.forge").mkdir(parents=True)
    (root / "dev.forge/wasm-tools.json").symlink_to(outside)
    found = load(root, {MANIFEST: {"name": "w"}})
    assert "leads out of the plugin" in found.errors[0].message
