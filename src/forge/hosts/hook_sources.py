"""The hooks of a run: which settings layers and files count, and what may switch them off."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from forge.agent.hooks.engine import Engine, Means
from forge.core.components.catalog import Catalog
from forge.core.components.kinds import HookSource
from forge.foundation.lenient import read_as
from forge.foundation.origin import Origin, Scope
from forge.foundation.settings_merge import Layer
from forge.hosts.configuration import Configuration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.agent.hooks.terminal import Lease

_PERSONAL = (Scope.USER, Scope.PROJECT, Scope.LOCAL)
# Places the reference does not read: earlier documents name them, so Forge does.
_EXTRA = ("hooks/hooks.json", "hooks.json")


def session_hooks(
    c: Configuration, *, bare: bool, safe: bool = False, alone: bool = True, asks: bool = False
) -> Engine:
    """The engine of a run with the hooks of its settings; plugins, skills and hosts add theirs.

    `bare` and `safe` leave those of settings out. `alone`: no other program speaks through this one. Then its
    terminal may be lent, and it ends with its answer. `asks`: somebody answers questions.
    """
    get = c.settings.get
    engine = Engine(
        Means(
            project_dir=os.path.dirname(c.places.project_dirs[0]),
            config_dir=c.places.claude_dir,
            allowed_urls=get("allowedHttpHookUrls", None),
            variables=get("httpHookAllowedEnvVars", None),
            trusted=c.trusted,
            switched_off=safe or switched_off(c),
            lend_terminal=_take_terminal if alone else None,
            wakes=not alone,
            asks=asks,
        )
    )
    if not (bare or safe):
        for source in sources(c):
            engine.add(source)
    return engine


def _take_terminal() -> Lease | None:
    taken: Lease | None = import_module("forge.foundation.system.foreground").take_terminal()
    return taken


def plugin_hooks(
    engine: Engine, c: Configuration, catalog: Catalog, *, bare: bool = False
) -> list[Callable[[], None]]:
    """Adds the hooks of plugins, unless they are switched off; the results take them out again."""
    if bare or c.settings.get("disableAllHooks", False) is True or only_managed(c):
        return []
    return [engine.add(source) for source in catalog.hooks]


def sources(c: Configuration) -> Iterator[HookSource]:
    """The hooks of settings files that may run, the weakest layer first."""
    for layer in c.settings.layers:
        events = layer.data.get("hooks")
        if isinstance(events, dict) and events and not why_not(c, layer):
            yield HookSource(layer.origin, events)
    if not switched_off(c) and not only_managed(c) and not plugins_only(c):
        yield from extra_files(c)


def why_not(c: Configuration, layer: Layer) -> str:
    """Why the hooks of a layer do not run; empty if they do."""
    if layer.scope is Scope.MANAGED:
        return "managed disableAllHooks" if _managed(c, "disableAllHooks") is True else ""
    if switched_off(c):
        return "disableAllHooks"
    if only_managed(c):
        return "allowManagedHooksOnly"
    return "strictPluginOnlyCustomization" if plugins_only(c) and layer.scope in _PERSONAL else ""


def switched_off(c: Configuration) -> bool:
    return c.settings.get("disableAllHooks", False) is True


def only_managed(c: Configuration) -> bool:
    return _managed(c, "allowManagedHooksOnly") is True


def plugins_only(c: Configuration) -> bool:
    value = _managed(c, "strictPluginOnlyCustomization")
    return value is True or (isinstance(value, list) and "hooks" in value)


def extra_files(c: Configuration) -> Iterator[HookSource]:
    """Files named hooks.json beside the settings; those of a project only where it is trusted."""
    places = c.places
    scopes = [(Scope.USER, places.user_dirs)]
    if c.trusted:
        scopes.append((Scope.PROJECT, places.project_dirs))
    for scope, folders in scopes:
        for folder in folders:
            for name in _EXTRA:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    yield HookSource(Origin(scope, path), _events(path))


def _events(path: str) -> dict[str, Any]:
    """The events of a file, with or without the outer key; nothing of one that cannot be read."""
    value = read_as(path, dict[str, Any]) or {}
    inner = value.get("hooks")
    return inner if isinstance(inner, dict) else {k: v for k, v in value.items() if k != "description"}


def _managed(c: Configuration, key: str) -> Any:
    found = None
    for layer in c.settings.layers:
        if layer.scope is Scope.MANAGED and key in layer.data:
            found = layer.data[key]
    return found
