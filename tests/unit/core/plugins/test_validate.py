from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.core.plugins.validate import Report, validate
from unit.core.plugins.plugin_tree import MANIFEST, plant

# Observed: where the reference's validator finds something in each of these trees.
HERE = Path(__file__).parent
MARKETS = json.loads((HERE / "markets.json").read_text(encoding="utf-8"))
CONTENTS = json.loads((HERE / "contents.json").read_text(encoding="utf-8"))
GOOD = {"name": "a", "version": "1", "description": "d", "author": {"name": "n"}}
STANDARD = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


@pytest.mark.parametrize("case", MARKETS, ids=lambda case: case["case"])
def test_marketplaces_are_judged_as_by_the_reference(case: dict[str, Any], tmp_path: Path) -> None:
    manifest = validate(plant(tmp_path, case["files"])).manifest
    assert manifest and manifest.type == "marketplace"
    assert sorted({error.path for error in manifest.errors}) == case["errors"]
    assert sorted({warning.path for warning in manifest.warnings}) == case["warnings"]


@pytest.mark.parametrize("case", CONTENTS, ids=lambda case: case["case"])
def test_files_of_plugins_are_judged_as_by_the_reference(case: dict[str, Any], tmp_path: Path) -> None:
    report = validate(plant(tmp_path, case["files"]))
    assert report.success is (case["exit"] == 0)
    assert (report.manifest.type if report.manifest else None) == case["type"]
    assert found_in(report, tmp_path) == case["contents"]


def found_in(report: Report, root: Path) -> list[Any]:
    return sorted(
        [
            os.path.relpath(part.file, root),
            part.type,
            sorted({error.path for error in part.errors}),
            sorted({warning.path for warning in part.warnings}),
        ]
        for part in report.contents
    )


def test_the_report_has_the_shape_scripts_expect(tmp_path: Path) -> None:
    root = plant(tmp_path, {MANIFEST: {"name": "a", "version": 1}})
    assert msgspec.to_builtins(validate(root)) == {
        "success": False,
        "strict": False,
        "target": f"{root}/{MANIFEST}",
        "manifest": {
            "file": f"{root}/{MANIFEST}",
            "type": "plugin",
            "errors": [
                {
                    "path": "version",
                    "message": "Invalid input: expected string, received number",
                    "code": None,
                }
            ],
            "warnings": [],
            "notes": [],
            "gatingHooks": [],
        },
        "contents": [],
        "advice": [],
        "directory": {
            "profile": None,
            "findings": [],
            "undecided": [],
            "incomplete": False,
            "failure": None,
            "notes": [],
        },
    }


@pytest.mark.parametrize(("strict", "success"), [(False, True), (True, False)])
def test_strict_makes_warnings_fail(strict: bool, success: bool, tmp_path: Path) -> None:
    root = plant(tmp_path, {MANIFEST: {**GOOD, "colour": "red"}})
    assert validate(root, strict).success is success


@pytest.mark.parametrize(
    ("files", "target", "success"),
    [
        ({MANIFEST: GOOD}, MANIFEST, True),
        ({MANIFEST: {}}, MANIFEST, False),
        ({".claude-plugin/marketplace.json": {}}, ".claude-plugin/marketplace.json", False),
        ({"skills/a/SKILL.md": "---\n- x\n---\n"}, "skills", False),
        ({"plugin.json": {"name": "x"}, "commands/a.md": "x"}, ".", False),
        ({"notes.txt": "x"}, ".", False),
        ({}, "nowhere", False),
        ({"plugin.json": {"$schema": STANDARD, "name": "x"}}, ".", True),
        ({"plugin.json": {"$schema": STANDARD, "name": "X"}}, ".", False),
        ({".forge-plugin/plugin.json": {}, "commands/a.md": "---\ndescription: d\n---\n"}, ".", True),
    ],
)
def test_files_and_directories_can_be_validated(
    files: dict[str, Any], target: str, success: bool, tmp_path: Path
) -> None:
    plant(tmp_path, files)
    assert validate(str(tmp_path / target)).success is success


def test_notes_tell_about_deprecated_settings(tmp_path: Path) -> None:
    manifest = validate(plant(tmp_path, {MANIFEST: {**GOOD, "settings": {"agent": "x"}}})).manifest
    assert manifest and len(manifest.notes) == 1
