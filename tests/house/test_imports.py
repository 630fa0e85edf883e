"""Who may import and touch what: layers, the operating system, the environment, shared state."""

from __future__ import annotations

import ast

import pytest

from house.source import Module, dotted, imported, nodes, place, product

LAYERS = ("foundation", "core", "agent", "hosts")

# Imports inside functions cost readability. These modules dispatch, and import what a run needs on use …
DISPATCH = ("__main__.py", "hosts/cli/", "core/models/catalog.py", "foundation/system/")
# … and these need something rarely that would cost every run.
LAZY = {
    "foundation/toml_settings.py": "tomllib",
    "foundation/frontmatter.py": "forge.foundation.yaml12",
}

SYSTEM = "foundation/system/"
SYSTEM_MODULES = {"fcntl", "pty", "tty", "termios", "msvcrt", "winreg", "ctypes", "platform", "resource"}
SYSTEM_NAMES = {"sys.platform", "os.name", "os.uname", "platform.system", "sys.getwindowsversion"}

ENVIRONMENT = ("__main__.py", "hosts/", "foundation/paths.py", "foundation/settings")
ENVIRONMENT_NAMES = {"os.environ", "os.environb", "os.getenv", "os.putenv"}

BANNED_EVERYWHERE = {"os.chdir", "os.system", "os.putenv", "importlib.metadata"}


def outside(*places: str) -> list[Module]:
    return [m for m in product() if not m.name.startswith(places)]


def uses(module: Module, names: set[str]) -> list[str]:
    """Places where one of the dotted names is read, called or imported."""
    found = [place(module, n) for n in nodes(module, ast.Attribute) if dotted(n) in names]
    return found + [
        place(module, n)
        for n in nodes(module, ast.Import, ast.ImportFrom)
        if any(name in names or name.split(".")[0] in names for name in imported(n))
    ]


@pytest.mark.requirement("S0-03")
def test_imports_point_only_downwards() -> None:
    upwards = [
        f"{place(m, node)} imports {name}"
        for m in product()
        if m.name.split("/")[0] in LAYERS
        for node in nodes(m, ast.Import, ast.ImportFrom)
        for name in imported(node)
        if name.startswith("forge.") and (layer := name.split(".")[1]) in LAYERS
        if LAYERS.index(layer) > LAYERS.index(m.name.split("/")[0])
    ]
    assert upwards == []


def test_only_the_system_package_knows_the_operating_system() -> None:
    found = [where for m in outside(SYSTEM) for where in uses(m, SYSTEM_MODULES | SYSTEM_NAMES)]
    assert found == []


def test_only_paths_settings_and_hosts_read_the_environment() -> None:
    assert [where for m in outside(*ENVIRONMENT) for where in uses(m, ENVIRONMENT_NAMES)] == []


def test_nothing_changes_the_process_behind_the_callers_back() -> None:
    assert [where for m in product() for where in uses(m, BANNED_EVERYWHERE)] == []


def test_imports_are_at_the_top_except_where_start_up_pays_for_them() -> None:
    hidden = [
        f"{place(m, node)} imports {name}"
        for m in outside(*DISPATCH)
        for function in nodes(m, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(function)
        for name in imported(node)
        if not name.startswith(LAZY.get(m.name, "-"))
    ]
    assert hidden == []


def test_only_hosts_print() -> None:
    printing = [
        place(m, node)
        for m in outside("hosts/", "__main__.py")
        for node in nodes(m, ast.Call)
        if isinstance(node, ast.Call)
        if dotted(node.func) in ("print", "sys.stdout.write", "sys.stderr.write")
    ]
    assert printing == []


def test_modules_hold_no_changing_state() -> None:
    rebinding = [place(m, node) for m in product() for node in nodes(m, ast.Global)]
    mutable = [
        place(m, statement)
        for m in product()
        for statement in m.tree.body
        for target, value in _assignments(statement)
        if isinstance(value, (ast.List, ast.Dict, ast.Set)) and not target.strip("_").isupper()
        if target != "__all__"
    ]
    assert rebinding + mutable == []


def _assignments(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        return [(dotted(target), statement.value) for target in statement.targets]
    if isinstance(statement, ast.AnnAssign) and statement.value:
        return [(dotted(statement.target), statement.value)]
    return []
