from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.analysis import tables
from forge.core.shell.analysis.record import CODES
from forge.core.shell.analysis.tables import commands, table

FILES = sorted((Path(tables.__file__).parent / "tables").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_table_has_a_version(path: Path) -> None:
    assert json.loads(path.read_text("utf-8"))["version"] == 1


def meanings(spec: Any) -> Iterator[str]:
    if isinstance(spec, str):
        yield spec.split(" ")[0]
    elif isinstance(spec, list):
        yield spec[0]
    elif isinstance(spec, dict):
        for key in ("is", "bare"):
            yield from meanings(spec.get(key, "R0"))
        for key in ("sub", "if", "starts"):
            for value in spec.get(key, {}).values():
                yield from meanings(value)


def test_every_meaning_is_a_category_and_a_risk() -> None:
    rows = [
        *commands().items(),
        *table("commands")["families"].items(),
        *table("commands")["python_modules"].items(),
    ]
    wrong = [
        (name, code)
        for name, spec in rows
        for code in meanings(spec)
        if code != "interactive" and not (code[0] in CODES and code[1:].isdigit() and int(code[1:]) <= 10)
    ]
    assert wrong == []


def test_risks_fit_their_categories() -> None:
    allowed = {"R": range(0, 3), "W": range(3, 6), "C": range(5, 8), "D": range(8, 10), "F": range(9, 11)}
    codes = {code for spec in commands().values() for code in meanings(spec) if code != "interactive"}
    codes |= {code for column in table("paths")["risk"].values() for code in column.values()}
    assert sorted(c for c in codes if int(c[1:]) not in allowed[c[0]]) == []


def test_all_effects_on_paths_know_all_kinds_of_places() -> None:
    columns = table("paths")["risk"]
    assert {effect: sorted(column) for effect, column in columns.items()} == {
        effect: sorted(columns["write"]) for effect in columns
    }


def test_no_program_is_in_two_rows() -> None:
    names = [name for programs, _ in table("commands")["rows"] for name in programs.split()]
    assert sorted({n for n in names if names.count(n) > 1}) == []
