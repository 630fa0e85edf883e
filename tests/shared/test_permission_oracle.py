from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared.oracles import TOOLS, run_line
from warm import warm_forge

CASES = TOOLS.parent / "golden" / "permissions.json"
CHUNK = 15

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the recordings are not beside this checkout")


def chunks() -> list[Any]:
    """All cases with a host that can be asked; without one a question is a refusal, so some cases will do."""
    cases = json.loads(CASES.read_text())["cases"] if CASES.is_file() else []
    asked = [cases[at : at + CHUNK] for at in range(0, len(cases), CHUNK)] or [[]]
    named = [(part, ("--three-way",), f"{part[0]['id'] if part else 'none'}-three-way") for part in asked]
    return [pytest.param(part, mode, id=name) for part, mode, name in (*named, (cases[::4], (), "plain"))]


@pytest.mark.parametrize(("chunk", "mode"), chunks())
def test_forge_decides_as_recorded(
    chunk: list[dict[str, Any]], mode: tuple[str, ...], tmp_path: Path
) -> None:
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps({"cases": chunk}))
    command = [*run_line("permission_oracle"), "--cli", str(warm_forge()), str(cases), *mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"{len(chunk)}/{len(chunk)} match\n")


def test_all_recorded_cases_are_there() -> None:
    assert len(json.loads(CASES.read_text())["cases"]) == 85
