"""Rules for the tests themselves: inject instead of patching, never sleep, names are sentences."""

from __future__ import annotations

import ast
import re

from house.source import Module, dotted, imported, modules, nodes, place

SENTENCE = re.compile(r"test(_[a-z0-9]+){3,}$")
MODULE_LIMIT = 600


def suite() -> list[Module]:
    return [m for m in modules("tests") if not m.name.startswith("house/")]


def test_tests_inject_instead_of_patching() -> None:
    patched = [
        place(m, node)
        for m in suite()
        for node in nodes(m, ast.Attribute)
        if dotted(node) in ("monkeypatch.setattr", "monkeypatch.setitem", "monkeypatch.delattr")
    ]
    mocked = [
        place(m, node)
        for m in suite()
        for node in nodes(m, ast.Import, ast.ImportFrom)
        if any(name.startswith("unittest") for name in imported(node))
    ]
    assert patched + mocked == []


def test_tests_wait_for_events_not_for_time() -> None:
    sleeping = [place(m, n) for m in suite() for n in nodes(m, ast.Attribute) if dotted(n) == "time.sleep"]
    assert sleeping == []


def test_test_names_are_sentences() -> None:
    terse = [
        f"{place(m, node)} {node.name}"
        for m in modules("tests")
        for node in m.tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if node.name.startswith("test") and not SENTENCE.match(node.name)
    ]
    assert terse == []


def test_there_are_no_test_classes() -> None:
    classes = [
        f"{place(m, node)} {node.name}"
        for m in modules("tests")
        for node in m.tree.body
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test")
    ]
    assert classes == []


def test_test_modules_stay_readable() -> None:
    assert {m.where: m.lines for m in modules("tests") if m.lines > MODULE_LIMIT} == {}
