"""Sizes and shapes: what keeps every file readable in one sitting. Ruff adds complexity and parameters."""

from __future__ import annotations

import ast
import re

import pytest

from house.source import Module, dotted, modules, nodes, place, product

MODULE_LIMITS = {"__main__.py": 40, "agent/loop.py": 200, "agent/toolcall.py": 200, "hosts/build.py": 200}
MODULE_LIMIT = 400
FUNCTION_LIMIT = 50
PRODUCT_LIMIT = 85_000
PACKAGE_LIMIT = 4_500
SUPPRESSION_BUDGET = 12

BANNED_WORDS = {"Manager", "Service", "Handler", "Helper", "Info", "Data"}
BANNED_MODULES = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
# The second row: classes of libraries that are made to be derived from.
BASES = re.compile(
    r"(Protocol|Struct|Generic|Enum|Flag|NamedTuple|TypedDict|Exception|Error"
    r"|Loader|Parser|App|Widget|ScrollView|ModalScreen|TextArea|Message)$"
)
# The toolkit of the review screen: widgets, screens and their messages are made by deriving.
WIDGETS = ("hosts/diffy/screen/", re.compile(r"^(App|ModalScreen|TextArea|Widget|ScrollView|Message)$"))
SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma)(?P<rest>[^\n]*)")

Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def limit(module: Module) -> int:
    return MODULE_LIMITS.get(module.name, MODULE_LIMIT)


def test_modules_stay_within_their_size() -> None:
    too_long = {m.name: m.lines for m in product() if m.lines > limit(m)}
    assert too_long == {}


def test_the_whole_product_and_each_package_stay_small() -> None:
    sizes: dict[str, int] = {}
    for m in product():
        package = m.name.rpartition("/")[0]
        sizes[package] = sizes.get(package, 0) + sum(bool(line.strip()) for line in m.text.splitlines())
    assert sum(sizes.values()) <= PRODUCT_LIMIT
    assert {name: size for name, size in sizes.items() if size > PACKAGE_LIMIT} == {}


def test_functions_fit_on_one_screen() -> None:
    too_long = {
        place(m, node): f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for m in product()
        for node in nodes(m, *Function)
        if isinstance(node, Function) and node.end_lineno and node.end_lineno - node.lineno >= FUNCTION_LIMIT
    }
    assert too_long == {}


def test_class_names_say_what_a_thing_is() -> None:
    vague = [
        f"{place(m, node)} {node.name}"
        for m in product()
        for node in nodes(m, ast.ClassDef)
        if isinstance(node, ast.ClassDef)
        and BANNED_WORDS.intersection(re.findall("[A-Z][a-z0-9]*", node.name))
    ]
    assert vague == []


def test_module_names_say_what_is_inside() -> None:
    vague = [m.where for m in product() if BANNED_MODULES.intersection(m.name.removesuffix(".py").split("/"))]
    assert vague == []


def test_classes_inherit_only_from_protocols_records_enums_and_exceptions() -> None:
    families = [
        f"{place(m, node)} {node.name}({dotted(base)})"
        for m in product()
        for node in nodes(m, ast.ClassDef)
        if isinstance(node, ast.ClassDef)
        for base in (b.value if isinstance(b, ast.Subscript) else b for b in node.bases)
        if not BASES.search(dotted(base))
        if not (m.name.startswith(WIDGETS[0]) and WIDGETS[1].search(dotted(base)))
    ]
    assert families == []


def test_package_files_are_empty() -> None:
    assert [m.where for m in product() if m.name.endswith("__init__.py") and m.text] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [m.where for m in product() if m.text and not ast.get_docstring(m.tree)]
    assert silent == []


def test_suppressions_are_few() -> None:
    found = [m.where for m in product() for _ in SUPPRESSION.finditer(m.text)]
    assert len(found) <= SUPPRESSION_BUDGET, found


@pytest.mark.parametrize("root", ["src/forge", "tests", "benchmarks"])
def test_each_suppression_gives_its_reason(root: str) -> None:
    bare = [
        f"{m.where}: {match.group(0)}"
        for m in _modules(root)
        for match in SUPPRESSION.finditer(m.text)
        if not _reason(match["rest"])
    ]
    assert bare == []


def _modules(root: str) -> list[Module]:
    return [m for m in modules(root) if not m.where.startswith("tests/house/")]


def _reason(rest: str) -> str:
    """What is left of a suppression after its codes: `: BLE001 - one tool must not end the session`."""
    return re.sub(r"^\s*(?:\[[\w, -]*\]|:\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?\s*[#:–—-]*\s*", "", rest)
