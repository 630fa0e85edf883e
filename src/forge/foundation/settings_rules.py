"""Permission rules, extra directories and starting modes as the settings of all layers give them."""

from __future__ import annotations

import os
from typing import Any

from forge.foundation.gitdir import find_root, is_tracked
from forge.foundation.homes import absolute
from forge.foundation.origin import Diagnostic, Scope, Severity
from forge.foundation.paths import Places, trust_key
from forge.foundation.permissions.rule import BEHAVIORS, Rule, parse_rule
from forge.foundation.settings_merge import Layer, Settings


def permission_rules(settings: Settings, *, trusted: bool) -> tuple[list[Rule], list[str], list[Diagnostic]]:
    """The rules in force, the additional directories, and what was left out.

    Until the workspace is trusted, files that came with the checkout may forbid and ask, but not allow.
    """
    p = settings.places
    rules: list[Rule] = []
    directories: list[str] = []
    notes: list[Diagnostic] = []
    managed_only = _managed_only(settings)
    for layer in settings.layers:
        permissions = layer.data.get("permissions", {})
        silent = bool(permissions) and not trusted and _came_with_checkout(layer, p)
        if silent:
            notes += _ignored(layer, permissions, p)
        else:
            directories += [
                absolute(d, p.cwd, p.home) for d in _entries(permissions, "additionalDirectories")
            ]
        if not managed_only or layer.scope is Scope.MANAGED:
            rules += _parsed(layer, permissions, ("ask", "deny") if silent else BEHAVIORS)
    return rules, list(dict.fromkeys(directories)), notes


def _managed_only(settings: Settings) -> bool:
    return any(
        layer.scope is Scope.MANAGED and layer.data.get("allowManagedPermissionRulesOnly") is True
        for layer in settings.layers
    )


def _came_with_checkout(layer: Layer, p: Places) -> bool:
    if layer.scope is Scope.PROJECT:
        return True
    # A local file is the user's own, unless somebody committed it, or a link to it.
    return layer.scope is Scope.LOCAL and any(
        _committed(path, p) for path in {layer.path, os.path.realpath(layer.path)}
    )


def _committed(path: str, p: Places) -> bool:
    inside = any(root and path.startswith(root + os.sep) for root in (p.git_root, p.repository))
    return inside and is_tracked(find_root(os.path.dirname(path)), path)


def _parsed(layer: Layer, permissions: dict[str, Any], behaviors: tuple[str, ...]) -> list[Rule]:
    # Entries that are no rules were reported and dropped when the file was read.
    rules = [
        parse_rule(text, behavior, layer.scope.wire, layer.anchor)
        for behavior in behaviors
        for text in _entries(permissions, behavior)
    ]
    return [rule for rule in rules if isinstance(rule, Rule)]


def _ignored(layer: Layer, permissions: dict[str, Any], p: Places) -> list[Diagnostic]:
    """One note per kind, in the words that scripts look for on stderr."""
    notes = []
    for name in ("allow", "additionalDirectories"):
        count = len(_entries(permissions, name))
        if count:
            entries = "entry" if count == 1 else "entries"
            message = (
                f"Ignoring {count} permissions.{name} {entries} from {_shown(layer.path, p)}: this workspace "
                "has not been trusted. Run `forge trust` here, or set "
                f'projects["{trust_key(p)}"].hasTrustDialogAccepted: true in {p.claude_state}.'
            )
            key = f"permissions.{name}"
            notes.append(Diagnostic(Severity.WARNING, message, layer.origin, key=key, whole=True))
    return notes


def _shown(path: str, p: Places) -> str:
    for root in (p.cwd, trust_key(p)):
        if path.startswith(root + os.sep):
            return path[len(root) + 1 :]
    return path


def _entries(permissions: dict[str, Any], name: str) -> list[Any]:
    entries = permissions.get(name)
    return entries if isinstance(entries, list) else []
