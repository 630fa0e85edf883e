"""The manifest and the suite agree: what is called done is tested, what is tested is called done."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from compat.page import PAGE, render
from compat.requirements import GROUPS, ROWS

TESTS = Path(__file__).resolve().parents[1]
SIZES = {"S0": 56, "S1": 152, "S2": 47, "S3": 22, "S4": 19}


def marks(conformance: bool = False) -> Iterator[tuple[str, str]]:
    """Requirement id and place of each `requirement` mark in the suite, or in the conformance tests."""
    for path in sorted(TESTS.rglob("test_*.py")):
        if ("conformance" in path.parts) != conformance:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.requirement"):
                for argument in node.args:
                    yield ast.literal_eval(argument), f"{path.relative_to(TESTS)}:{node.lineno}"


def test_every_requirement_is_a_row_once() -> None:
    expected = [f"{group}-{n:02d}" for group, size in SIZES.items() for n in range(1, size + 1)]
    assert [row.id for row in ROWS] == expected
    assert list(GROUPS) == list(SIZES)


def test_rows_use_the_agreed_words() -> None:
    assert {row.state for row in ROWS} <= {"done", "planned"}
    assert {row.source for row in ROWS} == {"observed", "documented", "decided"}
    assert [row.id for row in ROWS if not row.summary or not row.area] == []


def test_what_is_called_done_has_a_test() -> None:
    tested = {identifier for identifier, _ in marks()}
    # What is said about both programs can only be tested with both.
    compared = {identifier for identifier, _ in marks(conformance=True)}
    tested |= {row.id for row in ROWS if row.area == "conformance" and row.id in compared}
    assert [row.id for row in ROWS if row.state == "done" and row.id not in tested] == []


def test_what_is_tested_is_called_done() -> None:
    planned = {row.id for row in ROWS if row.state == "planned"}
    forgotten = [
        f"{place}: set {identifier} to done" for identifier, place in marks() if identifier in planned
    ]
    assert forgotten == []


def test_marks_name_rows_that_exist() -> None:
    known = {row.id for row in ROWS}
    assert [f"{place}: {identifier}" for identifier, place in marks() if identifier not in known] == []


def test_the_compatibility_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == render(), "run `make docs`"


def test_each_summary_is_its_own() -> None:
    texts = Counter(row.summary for row in ROWS)
    assert [text for text, count in texts.items() if count > 1] == []
