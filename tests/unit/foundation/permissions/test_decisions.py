from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unit.foundation.permissions.workspace import build, verdict

HERE = Path(__file__).parent
# What the reference decides, by topic: `given` rules and mode, `expected` verdict of each call.
DECISIONS: list[dict[str, Any]] = json.loads((HERE / "decisions.json").read_text())
GOLDEN: list[dict[str, Any]] = json.loads((HERE / "golden.json").read_text())
TOPICS = sorted({group["topic"] for group in DECISIONS})


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("workspace"))


@pytest.mark.parametrize("topic", TOPICS)
def test_decisions_are_those_of_the_reference(topic: str, root: Path) -> None:
    wrong = [
        (group["given"], row, expected, found)
        for group in DECISIONS
        if group["topic"] == topic
        for expected, rows in group["expected"].items()
        for row in rows
        if (found := verdict(group["given"], row, root)) != expected
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("given", "row", "expected"),
    [
        pytest.param(group["given"], row, expected, id=name)
        for group in GOLDEN
        for expected, rows in group["expected"].items()
        for name, row in rows.items()
    ],
)
def test_each_recorded_case_is_decided_alike(
    given: dict[str, Any], row: Any, expected: str, root: Path
) -> None:
    assert verdict(given, row, root) == expected
