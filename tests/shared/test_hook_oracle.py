from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shared.hook_differences import DECIDED, WORDS

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "golden" / "hooks" / "cases.json"
ORACLE = SHARED / "tools" / "hook_oracle.py"
CHUNK = 5

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the recordings are not beside this checkout")


def cases(but: dict[str, str]) -> list[dict[str, Any]]:
    recorded = json.loads(CASES.read_text())["cases"] if CASES.is_file() else []
    return [case for case in recorded if case["name"] not in but]


def chunks(but: dict[str, str]) -> list[list[dict[str, Any]]]:
    left = cases(but)
    return [left[at : at + CHUNK] for at in range(0, len(left), CHUNK)] or [[]]


def differences(chunk: list[dict[str, Any]], tmp_path: Path, *mode: str) -> list[str]:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": chunk}))
    program = tmp_path / "forge"
    path = os.pathsep.join(p for p in sys.path if p)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m forge "$@"\n')
    program.chmod(0o755)
    line = f"{program} -p {{prompt}} --output-format stream-json --verbose {{args}}"
    command = [sys.executable, str(ORACLE), "check", str(file), "--cli", line, *mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    told = [row for row in done.stdout.splitlines() if not row.startswith("ok ")]
    return told if told != ["0 failed"] else []


@pytest.mark.parametrize(
    "chunk", chunks(DECIDED | WORDS), ids=lambda chunk: chunk[0]["name"] if chunk else "none"
)
def test_hooks_do_what_was_recorded_word_for_word(chunk: list[dict[str, Any]], tmp_path: Path) -> None:
    assert differences(chunk, tmp_path, "--strict") == []


def test_cases_with_other_words_have_the_recorded_effect(tmp_path: Path) -> None:
    others = [case for case in cases({}) if case["name"] in WORDS]
    assert differences(others, tmp_path) == []


def test_nearly_all_cases_are_compared() -> None:
    assert len(cases({})) - len(DECIDED) == 189
