"""The manifest and the suite agree: what is called done is tested, what is tested is called done."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from compat.page import PAGE, render
from compat.requirements import GROUPS, ROWS
from house.source import dotted, modules, nodes

SKIPS = ("skip", "skipif", "importorskip", "xfail")
SIZES = {"S0": 56, "S1": 152, "S2": 47, "S3": 22, "S4": 19}


def marks(conformance: bool = False) -> Iterator[tuple[str, str]]:
    """Requirement id and place of each `requirement` mark in the suite, or in the conformance tests."""
    for module in modules("tests"):
        if module.name.startswith("conformance/") != conformance:
            continue
        for node in nodes(module, ast.Call):
            if isinstance(node, ast.Call) and dotted(node.func).endswith("mark.requirement"):
                for argument in node.args:
                    yield ast.literal_eval(argument), f"{module.name}:{node.lineno}"


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


@pytest.mark.requirement("S1-149")
def test_no_test_is_put_aside_and_none_of_plugins_depends_on_the_machine() -> None:
    # What compares with recordings or with the reference itself is not part of the suite.
    own = [(path, name) for path, name in left_out() if path.parts[0] not in ("shared", "conformance")]
    assert [f"{path}: {name}" for path, name in own if name in ("mark.skip", "mark.xfail", "xfail")] == []
    assert [f"{path}: {name}" for path, name in own if "plugin" in str(path)] == []


def left_out() -> Iterator[tuple[PurePath, str]]:
    """Each place where a test is left out: marks and calls of skip, skipif, importorskip and xfail."""
    for module in modules("tests"):
        for node in nodes(module, ast.Attribute):
            name = dotted(node)
            if name.startswith("pytest.") and name.rpartition(".")[2] in SKIPS:
                yield PurePath(module.name), name.removeprefix("pytest.")
