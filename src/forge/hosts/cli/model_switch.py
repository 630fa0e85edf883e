"""`forge models enable` and `disable`: whether a provider may be used, and what to know about it."""

from __future__ import annotations

from forge.core.models.catalog import find_installed
from forge.core.models.providers import read_providers
from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.foundation.suggest import closest
from forge.hosts.cli.config_change import set_key
from forge.hosts.cli.screen import open_screen
from forge.hosts.configuration import Configuration

SWITCHES = ("enable", "disable")


def switch(word: str, name: str, c: Configuration) -> int:
    """Writes the switch into the user's settings; a program is looked for before it is switched on."""
    provider = read_providers(c.settings.get)[0].get(name)
    if provider is None:
        near = closest(name, read_providers(c.settings.get)[0])
        guess = f" Did you mean {near}?" if near else ""
        raise UsageError(f"There is no provider {name!r}.{guess}", "See: forge models --all")
    on = word == "enable"
    screen = open_screen(c.env)
    if on and provider.program:
        screen.line(f"Found {find_installed(provider, c.env)}.")
    file, changed = set_key(
        c.places, Scope.USER, ("providers", name, "enabled"), "true" if on else "false", c.settings.layers
    )
    screen.line(f"{name} is {'on' if on else 'off'} ({'written to' if changed else 'as before in'} {file}).")
    if on and provider.terms:
        screen.say(provider.terms)
    if on and provider.models:
        screen.line(f"Use it with --model {name}/{next(iter(provider.models))}.")
    return 0
