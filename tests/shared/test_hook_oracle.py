from __future__ import annotations

import json
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from shared.hook_differences import DECIDED, RACE, RACE_LOST, WORDS
from shared.oracles import TOOLS, command_line, run_line

CASES = TOOLS.parent / "golden" / "hooks" / "cases.json"
CHUNK = 9

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the recordings are not beside this checkout")


def cases(but: Collection[str]) -> list[dict[str, Any]]:
    recorded = json.loads(CASES.read_text())["cases"] if CASES.is_file() else []
    return [case for case in recorded if case["name"] not in but]


def chunks(but: Collection[str]) -> list[list[dict[str, Any]]]:
    """The cases in parts; neighbours are often slow for the same reason, so they go to different parts."""
    left = cases(but)
    count = -(-len(left) // CHUNK)
    return [left[at::count] for at in range(count)] or [[]]


def differences(chunk: list[dict[str, Any]], tmp_path: Path, *mode: str) -> list[str]:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": chunk}))
    command = [*run_line("hook_oracle"), "check", str(file), "--cli", command_line(), *mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    fine = [f"ok   {case['name']}" for case in chunk]
    return [row for row in done.stdout.splitlines() if row not in fine] + done.stderr.splitlines()


@pytest.mark.parametrize(
    "chunk", chunks({*DECIDED, *WORDS, RACE}), ids=lambda chunk: chunk[0]["name"] if chunk else "none"
)
def test_hooks_do_what_was_recorded_word_for_word(chunk: list[dict[str, Any]], tmp_path: Path) -> None:
    assert differences(chunk, tmp_path, "--strict") == ["0 failed"]


def test_cases_with_other_words_have_the_recorded_effect(tmp_path: Path) -> None:
    others = [case for case in cases({}) if case["name"] in WORDS]
    assert differences(others, tmp_path) == ["0 failed"]


def test_a_race_ends_in_one_of_two_ways(tmp_path: Path) -> None:
    told = differences([case for case in cases({}) if case["name"] == RACE], tmp_path, "--strict")
    assert told in (["0 failed"], [f"FAIL {RACE}", f"      {RACE_LOST}", "1 failed"])


def test_nearly_all_cases_are_compared() -> None:
    assert len(cases({})) - len(DECIDED) == 189
