"""The repository as the house rules see it: parsed modules, and every text file git would track."""

from __future__ import annotations

import ast
import fnmatch
import functools
import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Module(NamedTuple):
    """`name` is the path below its root (`agent/loop.py`), `where` the path below the repository. `found` has
    the nodes of the tree by their type, because walking it for every rule takes long."""

    name: str
    where: str
    text: str
    tree: ast.Module
    found: dict[type[ast.AST], list[ast.AST]]

    @property
    def lines(self) -> int:
        return self.text.count("\n")


@functools.cache
def modules(root: str) -> tuple[Module, ...]:
    """All Python modules below `src/forge`, `tests` or `benchmarks`."""
    base = ROOT / root
    gc.disable()  # nothing of the trees is garbage, and looking for it takes longer than parsing
    try:
        return tuple(_parse(base, path) for path in sorted(base.rglob("*.py")))
    finally:
        gc.enable()


def product() -> tuple[Module, ...]:
    return modules("src/forge")


@functools.cache
def text_files() -> dict[str, str]:
    """Path and content of each file of the repository that is text and not ignored by git."""
    found = {}
    for path in _tracked():
        try:
            found[path.relative_to(ROOT).as_posix()] = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
    return found


def nodes(module: Module, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    return (node for kind in kinds for node in module.found.get(kind, ()))


def place(module: Module, node: ast.AST) -> str:
    return f"{module.where}:{getattr(node, 'lineno', 1)}"


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute expression, "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def imported(node: ast.AST) -> list[str]:
    """Full names an import statement brings in; `from a import b` gives `a.b`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def _parse(base: Path, path: Path) -> Module:
    text = path.read_text("utf-8")
    tree = ast.parse(text, str(path))
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree):
        found.setdefault(type(node), []).append(node)
    return Module(path.relative_to(base).as_posix(), path.relative_to(ROOT).as_posix(), text, tree, found)


def _tracked() -> Iterator[Path]:
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()] + [".git"]
    for directory, names, files in os.walk(ROOT):
        names[:] = [n for n in names if not _matches(n, ignored)]
        yield from (Path(directory, file) for file in sorted(files) if not _matches(file, ignored))


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
