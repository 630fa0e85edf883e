"""Runs of the real program against a scripted model, with long texts shortened and ids replaced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.core.models.claude_cli.report import map_run

RUNS = Path(__file__).resolve().parents[4] / "fixtures" / "claude_cli"
EXPECTED = [json.loads(line) for line in (RUNS / "expected.jsonl").read_text().splitlines()]


@pytest.mark.requirement("S4-15", "S4-16", "S4-17", "S4-18", "S4-19")
@pytest.mark.parametrize("expected", EXPECTED, ids=lambda row: row["run"])
def test_recorded_run_gives_the_expected_parts(expected: dict[str, Any]) -> None:
    body = (RUNS / f"{expected['run']}.jsonl").read_bytes()
    got = map_run([body], expected["exit_code"], expected["stderr"])
    assert got == {key: expected[key] for key in got}


def test_every_recording_is_expected_to_give_something() -> None:
    assert {row["run"] for row in EXPECTED} == {path.stem for path in RUNS.glob("*.jsonl")} - {"expected"}
