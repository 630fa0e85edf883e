"""Writes the permission updates a user wants to keep into the settings file they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.foundation.errors import ForgeError
from forge.foundation.origin import Scope
from forge.foundation.paths import Places
from forge.foundation.permissions.updates import rule_texts
from forge.foundation.settings import append_to_list, remove_from_list, write_setting

_SCOPES = {
    "userSettings": Scope.USER,
    "projectSettings": Scope.PROJECT,
    "localSettings": Scope.LOCAL,
}


def persist_updates(places: Places, warn: Callable[[str], None]) -> Callable[[list[dict[str, Any]]], None]:
    """A function that saves updates; what cannot be saved still counts for the session and is reported."""

    def persist(updates: list[dict[str, Any]]) -> None:
        for update in updates:
            try:
                _save(places, _SCOPES[update["destination"]], update)
            except (ForgeError, OSError) as error:
                warn(f"The permission could not be saved: {error}")

    return persist


def _save(places: Places, scope: Scope, update: dict[str, Any]) -> None:
    kind = update["type"]
    if kind == "setMode":
        write_setting(places, scope, "permissions.defaultMode", update["mode"])
    elif kind == "addDirectories":
        append_to_list(places, scope, "permissions.additionalDirectories", update["directories"])
    elif kind == "removeDirectories":
        remove_from_list(places, scope, "permissions.additionalDirectories", update["directories"])
    elif kind == "addRules":
        append_to_list(places, scope, f"permissions.{update['behavior']}", rule_texts(update))
    elif kind == "removeRules":
        remove_from_list(places, scope, f"permissions.{update['behavior']}", rule_texts(update))
    else:
        write_setting(places, scope, f"permissions.{update['behavior']}", rule_texts(update))
