"""Which kind of place a path names: the root, a home, a system tree, the workspace, a secret."""

from __future__ import annotations

import functools
import os
import re

from forge.core.shell.analysis.tables import names, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.surroundings import Surroundings

# Stands in values for what cannot be known before the command runs.
UNKNOWN = "\ue000"


def kind_of(path: str, around: Surroundings) -> str:
    """The kind of an absolute, normalised path (columns of the risk table)."""
    if path == "/":
        return "root"
    if path.startswith("/dev/"):
        return _device(path)
    relative = path[1:]
    if _listed("forbidden_write").fullmatch(relative):
        return "forbidden_file"
    return _temporary(path, around) or _workspace(path, around) or _elsewhere(path, around)


def is_secret(path: str) -> bool:
    """Whether reading the file gives away credentials; works on the end of the path and on patterns."""
    tails = _tails(path)
    if any(_listed("not_secret").fullmatch(tail) for tail in tails):
        return False
    return any(_listed("secrets").fullmatch(tail) for tail in tails)


def is_protected(path: str) -> bool:
    """Whether writing there is executed later or changes the guard itself."""
    return any(_listed("protected").fullmatch(tail) for tail in _tails(path))


def is_guard(path: str) -> bool:
    """Whether rules, history, hooks or the socket of a guard are there."""
    return any(_listed("guard").fullmatch(tail) for tail in _tails(path))


def _temporary(path: str, around: Surroundings) -> str:
    for root in _temp_roots(around):
        if path == root:
            return "temp_root"
        if path.startswith(root + "/") and not _below(around.workspace, root):
            return "protected" if is_protected(path[len(root) :]) else "temp"
    return ""


def _temp_roots(around: Surroundings) -> list[str]:
    return ["/" + name for name in table("paths")["temp"]] + list(around.temp)


def _workspace(path: str, around: Surroundings) -> str:
    workspace = around.workspace
    if path == workspace:
        return "home" if path == around.home else "workspace_root"
    if _below(workspace, path):
        return _shallow(path, around) or "above"
    for root in (workspace, *around.extra):
        if _below(path, root) or path == root:
            return _inside(path[len(root) :], around)
    return ""


def _inside(relative: str, around: Surroundings) -> str:
    denied = any(re.fullmatch(_translate(pattern), relative.strip("/")) for pattern in around.deny)
    if denied or is_protected(relative):
        return "protected"
    parts = [p for p in relative.split("/") if p]
    if parts and parts[0] == ".git":
        return "protected"
    return "regenerable" if any(_listed("regenerable").fullmatch(p) for p in parts) else "workspace"


def _elsewhere(path: str, around: Surroundings) -> str:
    found = _shallow(path, around)
    if found:
        return found
    if is_protected(path):
        return "protected"
    parts = path.split("/")
    if parts[1] in names("paths", "system"):
        return "system_top" if len(parts) == 3 else "system"
    return "outside"


def _shallow(path: str, around: Surroundings) -> str:
    """Roots of trees and homes: the places where a depth of one or two decides."""
    parts = path.split("/")
    if path == around.home or path.lower() in _windows_roots():
        return "home"
    if len(parts) == 2:
        if parts[1] in names("paths", "single_homes"):
            return "home"
        return "system_root" if parts[1] in _system_roots() else ""
    return "home" if len(parts) == 3 and parts[1] in names("paths", "homes") else ""


@functools.cache
def _system_roots() -> frozenset[str]:
    return names("paths", "system") | names("paths", "homes")


@functools.cache
def _windows_roots() -> frozenset[str]:
    letters = "cde"
    return frozenset(
        f"/{prefix}{letter}{rest}"
        for prefix in ("mnt/", "")
        for letter in letters
        for rest in ("", "/windows", "/users", "/program files")
    )


def _device(path: str) -> str:
    name = path[5:]
    if name.startswith(("tcp/", "udp/")):
        return "network"
    if name.startswith("shm"):
        return "temp" if name != "shm" else "temp_root"
    if _listed("harmless_devices").fullmatch(name):
        return "harmless"
    return "device" if _listed("raw_devices").fullmatch(name) else "system"


def _tails(path: str) -> list[str]:
    """`a/b/c` and all shorter ends of it."""
    parts = [p for p in path.split("/") if p]
    return ["/".join(parts[at:]) for at in range(max(0, len(parts) - 6), len(parts))] + (
        ["/".join(parts)] if len(parts) > 6 else []
    )


def _below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


@functools.cache
def _listed(key: str) -> re.Pattern[str]:
    return re.compile("|".join(_translate(pattern) for pattern in table("paths")[key]), re.IGNORECASE)


def _translate(pattern: str) -> str:
    found = re.escape(pattern).replace(r"\*\*", ".+").replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return f"(?:{found})"


def normalise(path: str) -> str:
    """Removes `.`, `..` and doubled slashes of an absolute path, without looking at the disk."""
    found = os.path.normpath(path)
    return found[1:] if found.startswith("//") else found
