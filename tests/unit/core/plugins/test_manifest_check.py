from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.manifest_check import check_manifest, reserved_name
from forge.core.plugins.path_check import check_paths

# Observed: what the reference's validator says about each of these manifests.
CASES = json.loads(Path(__file__).with_name("manifests.json").read_text(encoding="utf-8"))


@pytest.mark.requirement("S0-41", "S1-01", "S1-05")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_schema_errors_are_those_of_the_reference(case: dict[str, Any]) -> None:
    found = check_manifest(case["manifest"]).errors
    assert [[error.path, error.message] for error in found] == case["errors"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_warnings_are_about_the_same_fields(case: dict[str, Any]) -> None:
    found = {warning.path for warning in check_manifest(case["manifest"]).warnings}
    # Servers are judged by another module.
    assert sorted(found) == [path for path in case["warnings"] if not path.startswith("mcpServers.")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_missing_and_leaving_paths_are_named(case: dict[str, Any], tmp_path: Path) -> None:
    found = {finding.path for finding in check_paths(case["manifest"], str(tmp_path))}
    found |= {finding.path for finding in check_manifest(case["manifest"]).objections}
    assert sorted(found) == case["objections"]


@pytest.mark.parametrize(
    ("name", "reserved"),
    [
        ("claude-helper", True),
        ("cc-plugin-x", True),
        ("Anthropic", True),
        ("my-official-claude", True),
        ("official-tools-for-claude", False),
        ("claudette", False),
    ],
)
def test_names_of_the_vendor_are_reserved(name: str, reserved: bool) -> None:
    assert bool(reserved_name(name)) is reserved
    assert reserved_name(name, official=True) == ""
