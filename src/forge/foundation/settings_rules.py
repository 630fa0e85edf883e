"""Permission rules, extra directories and starting modes as the settings of all layers give them."""

from __future__ import annotations

import os
from typing import Any

from forge.foundation.gitdir import is_tracked
from forge.foundation.origin import Diagnostic, Scope, Severity
from forge.foundation.paths import Places, trust_key
from forge.foundation.permissions.rule import Rule, parse_rule
from forge.foundation.settings_merge import Layer, Settings

BEHAVIORS = ("deny", "ask", "allow")


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
        if not permissions or (managed_only and layer.scope is not Scope.MANAGED):
            continue
        silent = not trusted and _came_with_checkout(layer, p)
        for behavior in BEHAVIORS:
            if behavior != "allow" or not silent:
                rules += _parsed(layer, permissions, behavior, notes)
        if silent:
            notes += _ignored(layer, permissions, p)
        else:
            directories += [d for d in _entries(permissions, "additionalDirectories") if d not in directories]
    return rules, directories, notes


def configured_modes(settings: Settings) -> list[tuple[str, str]]:
    """(source, mode) of every layer that names a starting mode, the weakest first."""
    found = [
        (layer.scope.wire, layer.data.get("permissions", {}).get("defaultMode")) for layer in settings.layers
    ]
    return [(source, mode) for source, mode in found if isinstance(mode, str)]


def _managed_only(settings: Settings) -> bool:
    return any(
        layer.scope is Scope.MANAGED and layer.data.get("allowManagedPermissionRulesOnly") is True
        for layer in settings.layers
    )


def _came_with_checkout(layer: Layer, p: Places) -> bool:
    if layer.scope is Scope.PROJECT:
        return True
    # A local file is the user's own, unless somebody committed one.
    return layer.scope is Scope.LOCAL and bool(p.git_root) and _committed(layer.path, p)


def _committed(path: str, p: Places) -> bool:
    return any(
        path.startswith(root + os.sep) and is_tracked(root, path) for root in {p.git_root, p.repository}
    )


def _parsed(layer: Layer, permissions: dict[str, Any], behavior: str, notes: list[Diagnostic]) -> list[Rule]:
    rules = []
    for index, text in enumerate(_entries(permissions, behavior)):
        rule = parse_rule(text, behavior, layer.scope.wire, layer.anchor)
        if isinstance(rule, Rule):
            rules.append(rule)
        else:
            key = f"permissions.{behavior}.{index}"
            notes.append(Diagnostic(Severity.WARNING, rule, layer.origin, "This rule is ignored.", key=key))
    return rules


def _ignored(layer: Layer, permissions: dict[str, Any], p: Places) -> list[Diagnostic]:
    """One note per kind, in the words that scripts look for on stderr."""
    notes = []
    for name in ("allow", "additionalDirectories"):
        count = len(_entries(permissions, name))
        if count:
            entries = "entry" if count == 1 else "entries"
            message = (
                f"Ignoring {count} permissions.{name} {entries} from {_shown(layer.path, p)}: this workspace "
                "has not been trusted. Run Forge interactively here once and accept the trust dialog, or set "
                f'projects["{trust_key(p)}"].hasTrustDialogAccepted: true in {p.claude_state}.'
            )
            notes.append(Diagnostic(Severity.WARNING, message, layer.origin, key=f"permissions.{name}"))
    return notes


def _shown(path: str, p: Places) -> str:
    for root in (p.cwd, trust_key(p)):
        if path.startswith(root + os.sep):
            return path[len(root) + 1 :]
    return path


def _entries(permissions: dict[str, Any], name: str) -> list[Any]:
    entries = permissions.get(name)
    return entries if isinstance(entries, list) else []
