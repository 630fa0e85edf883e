"""What the tests of the analysis share: an invented machine without links on disk."""

from __future__ import annotations

import json
from pathlib import Path

from forge.core.shell.analysis.analyse import analyse
from forge.core.shell.analysis.record import Verdict
from forge.core.shell.analysis.surroundings import Surroundings


def machine() -> Surroundings:
    around = Surroundings("/home/dev/proj", "/home/dev")
    around.real = str
    return around


def judged(command: str) -> Verdict:
    # More time than the product gives, so that a busy machine does not change an answer.
    return analyse(command, machine(), 10.0)


def corpus() -> list[tuple[str, list[str], str]]:
    """Rows of expected category, other acceptable ones, command."""
    files = sorted(Path(__file__).parent.glob("corpus_*.json"))
    rows = [row for file in files for row in json.loads(file.read_text("utf-8"))]
    return [(expect, also, command) for expect, also, command in rows]
