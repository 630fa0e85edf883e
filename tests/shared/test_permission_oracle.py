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


def chunks() -> list[list[dict[str, Any]]]:
    cases = json.loads(CASES.read_text())["cases"] if CASES.is_file() else []
    return [cases[at : at + CHUNK] for at in range(0, len(cases), CHUNK)] or [[]]


@pytest.mark.parametrize("mode", [(), ("--three-way",)], ids=["plain", "three-way"])
@pytest.mark.parametrize("chunk", chunks(), ids=lambda cases: cases[0]["id"] if cases else "none")
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
