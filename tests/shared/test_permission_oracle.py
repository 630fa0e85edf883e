from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "golden" / "permissions.json"
ORACLE = SHARED / "tools" / "permission_oracle.py"
CHUNK = 15

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the recordings are not beside this checkout")


def chunks() -> list[Any]:
    """All cases with a host that can be asked; without one a question is a refusal, so some cases will do."""
    cases = json.loads(CASES.read_text())["cases"] if CASES.is_file() else []
    asked = [cases[at : at + CHUNK] for at in range(0, len(cases), CHUNK)] or [[]]
    named = [(part, ("--three-way",), f"{part[0]['id'] if part else 'none'}-three-way") for part in asked]
    alone = [(cases[::4][at : at + CHUNK], (), f"plain-{at}") for at in range(0, len(cases[::4]), CHUNK)]
    return [pytest.param(part, mode, id=name) for part, mode, name in (*named, *alone)]


@pytest.mark.parametrize(("chunk", "mode"), chunks())
def test_forge_decides_as_recorded(
    chunk: list[dict[str, Any]], mode: tuple[str, ...], tmp_path: Path
) -> None:
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps({"cases": chunk}))
    program = tmp_path / "forge"
    path = os.pathsep.join(p for p in sys.path if p)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m forge "$@"\n')
    program.chmod(0o755)
    command = [sys.executable, str(ORACLE), "--cli", str(program), str(cases), *mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"{len(chunk)}/{len(chunk)} match\n")
