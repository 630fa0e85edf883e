"""The tree-sitter parsers, loaded without the packages around them: those cost more than the parsing."""

from __future__ import annotations

import functools
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tree_sitter import Parser


@functools.cache
def parser(language: str) -> Parser:
    """The parser of `bash` or `powershell`."""
    core = _extension("tree_sitter")
    grammar = _extension(f"tree_sitter_{language}")
    made: Parser = core.Parser(core.Language(grammar.language()))
    return made


def _extension(package: str) -> ModuleType:
    name = f"{package}._binding"
    if name in sys.modules:
        return sys.modules[name]
    path = _find(package)
    if path is None:
        raise ImportError(f"{package} is not installed", name=package)
    loader = ExtensionFileLoader(name, path)
    spec = ModuleSpec(name, loader, origin=path)
    module = loader.create_module(spec)
    loader.exec_module(module)
    sys.modules[name] = module
    return module


def _find(package: str) -> str | None:
    for directory in sys.path:
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(directory, package, f"_binding{suffix}")
            if os.path.isfile(path):
                return path
    return None
