"""The one way components get into a session: built-ins, files of all places, plugins."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.styles import builtin_styles
from forge.agent.team.agents import agents_contribution, builtin_contribution
from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.listing import View, read_overrides
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import read_json
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity
from forge.foundation.paths import DIALECTS, Places
from forge.foundation.settings import parse_setting_sources
from forge.hosts.agent_options import agents_value
from forge.hosts.configuration import Configuration, config_places
from forge.hosts.options import RunOptions

if TYPE_CHECKING:
    from forge.core.plugins.discover import Discovered, PluginShelf
    from forge.hosts.parts.archives import Archives

SOURCES = frozenset({"user", "project", "local"})
_FOLDERS = ("skills", "commands", "agents", "output-styles")
_PLUGIN_DIRS = "CLAUDE_CODE_PLUGIN_DIRS"
_SHARED = ".agents"


class Components:
    """The components of a run. `refresh` looks at the disk again and swaps what has changed."""

    def __init__(self, o: RunOptions, c: Configuration) -> None:
        self.catalog = Catalog()
        self.found: Discovered | None = None
        self._removers: list[Callable[[], None]] = []
        self._shelf: PluginShelf | None = None
        self._archives: Archives | None = None
        self.refresh(o, c)

    def refresh(self, o: RunOptions, c: Configuration) -> None:
        """Loads everything anew; plugins whose files have not changed are not read again."""
        fresh = self._read(o, c)
        for remove in self._removers:
            remove()
        self._removers = [self.catalog.add(each) for each in fresh]

    @property
    def agent(self) -> str:
        """The main agent a plugin asks for."""
        named = [c.settings.get("agent") for c in self.catalog.contributions if c.settings]
        return next((name for name in named if isinstance(name, str) and name), "")

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything that is wrong with components, problems of plugins included."""
        errors = self.found.errors if self.found else []
        rows = [Diagnostic(Severity.ERROR, e.message, _origin(e.plugin, e.path)) for e in errors]
        return [*self.catalog.diagnostics, *rows]

    def describe(self, eco: Ecosystem, o: RunOptions, c: Configuration) -> None:
        """Tells a session what decides which components show, and what hosts report about plugins."""
        get = c.settings.get
        eco.view = View(
            overrides=read_overrides(get("skillOverrides", {})),
            without_bundled=get("disableBundledSkills", False) is True,
            disabled=o.disable_slash_commands,
            active=eco.view.active,
            chosen=eco.view.chosen,
        )
        eco.plugins = [_row(p.name, p.root, p.id, p.version) for p in self.found.active] if self.found else []
        eco.errors = msgspec.to_builtins(self.found.errors) if self.found else []
        # Hosts are told what the settings say, also where a plugin forces its own style.
        eco.style = get("outputStyle", "") or eco.style

    def _read(self, o: RunOptions, c: Configuration) -> list[Contribution]:
        fresh = [builtin_contribution(), builtin_styles()]
        if o.agents is not None:
            fresh.append(agents_contribution(agents_value(o.agents), Scope.CLI, "--agents"))
        self.found = self._plugins(o, c)
        closed = self.found.closed_skills if self.found else []
        fresh += [_without(each, closed) for each in read_files(o, c)]
        if self.found is not None:
            fresh += [p.load.contribution for p in self.found.active if p.load is not None]
        return fresh

    def _plugins(self, o: RunOptions, c: Configuration) -> Discovered | None:
        named = [*o.plugin_dir, *o.plugin_dir_no_mcp, *o.plugin_url, c.env.get(_PLUGIN_DIRS, "")]
        if not (self._shelf or any(named) or may_have_plugins(c.places)):
            return None
        if self._archives is None and any(".zip" in place or "://" in place for place in named):
            self._archives = import_module("forge.hosts.parts.archives").Archives(c)
        module = import_module("forge.core.plugins.discover")
        self._shelf = self._shelf or module.PluginShelf()
        found: Discovered = module.discover(plugin_request(o, c, self._archives), self._shelf)
        return found


def read_files(o: RunOptions, c: Configuration) -> list[Contribution]:
    """What the files of managed, user, project and added directories contribute."""
    added, places = added_directories(o, c), config_places(o, c.env, c.places)
    if o.safe_mode or not may_have_files(places, added):
        return []
    sources: Collection[str] = SOURCES
    if o.setting_sources is not None:
        sources = parse_setting_sources(o.setting_sources)
    if o.bare:
        sources = ()
    found: list[Contribution] = import_module("forge.core.components.user_files").read_places(
        places, added, sources
    )
    return found


def added_directories(o: RunOptions, c: Configuration) -> list[str]:
    """The directories of `--add-dir`."""
    named = [d.strip() for value in o.add_dir for d in value.split(",") if d.strip()]
    return [os.path.abspath(os.path.join(c.places.cwd, d)) for d in named]


def may_have_files(p: Places, added: list[str]) -> bool:
    """Whether any place holds a folder for components; most runs end their search here."""
    places = [*p.managed_dirs, *p.user_dirs, f"{p.home}/{_SHARED}"]
    places += [f"{directory}/{name}" for directory in p.managed_dirs for name in DIALECTS]
    directory = p.cwd
    while True:
        places += [f"{directory}/{name}" for name in (_SHARED, *DIALECTS)]
        above = os.path.dirname(directory)
        if not p.git_root or directory in (p.git_root, above):
            break
        directory = above
    places += [f"{extra}/{name}" for extra in added for name in (_SHARED, *DIALECTS)]
    present = [place for place in places if os.path.isdir(place)]
    return any(os.path.isdir(f"{place}/{folder}") for place in present for folder in _FOLDERS)


def may_have_plugins(p: Places) -> bool:
    """Whether any place could hold a plugin."""
    roots = [*p.user_dirs, *p.project_dirs]
    if os.path.isdir(f"{p.cwd}/plugins") or any(os.path.isdir(f"{root}/plugins") for root in roots):
        return True
    return any(os.path.isdir(f"{root}/skills") for root in roots)


def plugin_request(o: RunOptions, c: Configuration, archives: Archives | None) -> Any:
    """What discovery has to know about this run."""
    candidates = import_module("forge.core.plugins.candidates")
    get = c.settings.get
    enabled, configs = get("enabledPlugins", {}), get("pluginConfigs", {})
    return candidates.Request(
        places=c.places,
        env=c.env,
        enabled=enabled if isinstance(enabled, dict) else {},
        configs=configs if isinstance(configs, dict) else {},
        secrets=_secrets(c.places),
        trusted=c.trusted,
        plugin_dirs=[*o.plugin_dir, *o.plugin_dir_no_mcp, *o.plugin_url],
        unpack=archives.open if archives else None,
        safe=o.safe_mode,
    )


def _secrets(p: Places) -> dict[str, Any]:
    """Saved options that are secret, by plugin; they are for programs of the plugin, never for texts."""
    try:
        content, _ = read_json(f"{p.claude_dir}/.credentials.json")
    except (OSError, ConfigError):
        return {}
    found = content.get("pluginSecrets") if isinstance(content, dict) else None
    return found if isinstance(found, dict) else {}


def _without(contribution: Contribution, closed: list[str]) -> Contribution:
    """The skills of directories whose plugin is switched off do not count."""
    if not closed or not any(c.value.root in closed for c in contribution.skills):
        return contribution
    kept = [c for c in contribution.skills if c.value.root not in closed]
    return msgspec.structs.replace(contribution, skills=kept)


def _row(name: str, root: str, plugin_id: str, version: str | None) -> dict[str, Any]:
    told = {"name": name, "path": root, "source": plugin_id}
    return {**told, "version": version} if version is not None else told


def _origin(plugin: str, path: str) -> Origin:
    return Origin(Scope.PLUGIN, path, plugin)
