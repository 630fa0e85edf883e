"""The plugin commands against what the reference printed and wrote, where its recordings are at hand."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "golden" / "plugins"
ORACLE = SHARED / "tools" / "plugin_oracle.py"
NAMES = ["10-marketplace", "11-marketplace-errors", "12-dependencies-and-clashes"]

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the recordings are not beside this checkout")

# Advice names the program that is running.
PROGRAM = ("claude plugin", "forge plugin")
# Both programs only guess how many tokens a skill costs, by different rules.
ESTIMATE = ("~10 tok", "~3 tok")


def oracle() -> Any:
    spec = importlib.util.spec_from_file_location("plugin_oracle", ORACLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(name: str) -> dict[str, Any]:
    text = (CASES / name / "expected.json").read_text()
    value: dict[str, Any] = json.loads(text.replace(*PROGRAM).replace(*ESTIMATE))
    return value


@pytest.mark.parametrize("name", NAMES)
def test_plugin_commands_print_and_write_what_the_reference_does(name: str, tmp_path: Path) -> None:
    program = tmp_path / "forge"
    path = os.pathsep.join(p for p in sys.path if p)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m forge "$@"\n')
    program.chmod(0o755)
    tool = oracle()
    spec = json.loads((CASES / name / "case.json").read_text())
    case = tmp_path / "case"
    case.mkdir()
    for entry in (CASES / name).iterdir():
        if entry.is_dir():
            (case / entry.name).symlink_to(entry)
    (case / "case.json").write_text(json.dumps({**spec, "targets": [], "runs": []}))
    lab = tool.Lab(str(program), 0)
    lab.baseline = {"init": {}, "skills": set(), "agents": set()}
    try:
        got = tool.run_case(lab, case)
    finally:
        lab.srv.shutdown()
        lab.srv.server_close()
    want = expected(name)
    assert got["cli"] == want["cli"]
    assert got.get("files") == want.get("files")
