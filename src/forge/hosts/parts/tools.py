"""Gives a session the tools of its plugins, with the rights the user's own settings grant them."""

from __future__ import annotations

from typing import Any

from forge.agent.plugins.diagnostics import Languages
from forge.agent.plugins.tools import add_plugin_tools
from forge.agent.session import Session
from forge.foundation.origin import Scope
from forge.foundation.settings_merge import Settings, merge
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions

# What comes with a checkout must not grant anything to plugins, trusted or not.
_FOREIGN = (Scope.PROJECT, Scope.LOCAL)


def give_plugin_tools(session: Session, o: RunOptions, c: Configuration) -> None:
    """Adds or replaces the tools of plugins."""
    session.keep(Languages).off = o.bare
    add_plugin_tools(session, own_setting(c.settings, "wasm"), offered=o.tools is None and not o.bare)


def own_setting(settings: Settings, key: str) -> Any:
    """A setting of the user, the command line and the machine's owner; None if none of them has it."""
    return merge([{}, *(layer.data for layer in settings.layers if layer.scope not in _FOREIGN)]).get(key)
