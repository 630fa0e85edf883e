from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.candidates import Request
from forge.core.plugins.discover import Discovered, discover
from forge.core.plugins.validate import Report, validate
from forge.foundation.paths import find_places

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "plugins"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")

CASES = [
    (case.name, target)
    for case in sorted(path.parent for path in GOLDEN.glob("*/case.json"))
    for target in json.loads((case / "expected.json").read_text("utf-8"))["targets"]
]
LOADED = [pair for pair in CASES if pair[0] < "07"]
# Messages in Forge's own words: positions in broken JSON, and the name of the program to run.
OWN_WORDS = {"comment", "empty", "syntax", "hooknowrap", "skillfile", "depmissing"}


def expected(case: str, target: str, what: str) -> Any:
    recorded = json.loads((GOLDEN / case / "expected.json").read_text("utf-8"))
    text = json.dumps(recorded["targets"][target][what]).replace("<CASE>", str(GOLDEN / case))
    return json.loads(text)


def verdict(report: Report, root: Path) -> dict[str, Any]:
    part = report.manifest
    return {
        "success": report.success,
        "type": part.type if part else None,
        "errors": paths(part.errors if part else []),
        "warnings": paths(part.warnings if part else []),
        "contents": sorted(
            (os.path.relpath(c.file, root), c.type, paths(c.errors), paths(c.warnings))
            for c in report.contents
            if c.errors or c.warnings
        ),
    }


def recorded_verdict(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "success": found["success"],
        "type": found["type"],
        "errors": paths(found["errors"]),
        "warnings": paths(found["warnings"]),
        "contents": sorted(
            (c["file"], c["type"], paths(c["errors"]), paths(c["warnings"])) for c in found["contents"]
        ),
    }


def paths(findings: Any) -> list[str]:
    return sorted({f["path"] if isinstance(f, dict) else f.path for f in findings})


def view(found: Discovered, *, messages: bool) -> dict[str, Any]:
    own = [plugin.load.contribution for plugin in found.active if plugin.load]
    skills = [c.value for part in own for c in part.skills if c.value.user_invocable]
    return {
        "plugins": [(p.name, p.root, p.id, p.version) for p in found.active],
        "slash_commands": sorted({skill.name for skill in skills}),
        "skills": sorted({s.name for s in skills if not s.is_command and s.described}),
        "agents": sorted({c.name for part in own for c in part.agents}),
        "mcp_servers": sorted(c.name for part in own for c in part.servers),
        "plugin_errors": [(e.plugin, e.type, e.path, e.message if messages else "") for e in found.errors],
    }


def recorded_view(found: dict[str, Any], *, messages: bool) -> dict[str, Any]:
    return {
        "plugins": [(p["name"], p["path"], p["source"], p.get("version")) for p in found["plugins"]],
        "slash_commands": sorted(set(found["slash_commands"])),
        "skills": sorted(set(found["skills"])),
        "agents": sorted(set(found["agents"])),
        "mcp_servers": sorted(server["name"] for server in found["mcp_servers"]),
        "plugin_errors": [
            (e["plugin"], e["type"], e.get("path", ""), e["message"] if messages else "")
            for e in found["plugin_errors"]
        ],
    }


@pytest.mark.parametrize(("case", "target"), CASES)
def test_the_verdict_is_the_recorded_one(case: str, target: str) -> None:
    root = GOLDEN / case / target
    assert verdict(validate(str(root)), root) == recorded_verdict(expected(case, target, "validate"))


@pytest.mark.parametrize(("case", "target"), LOADED)
def test_what_loads_is_what_was_recorded(case: str, target: str, tmp_path: Path) -> None:
    places = find_places({"HOME": str(tmp_path)}, str(tmp_path))
    found = discover(Request(places, plugin_dirs=[str(GOLDEN / case / target)]))
    messages = target not in OWN_WORDS
    assert view(found, messages=messages) == recorded_view(expected(case, target, "load"), messages=messages)
