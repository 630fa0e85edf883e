"""Settings that change while a session runs: which files are watched, and what of them it takes over.

Rules, directories, hooks, environment and every setting that is read when it is needed are taken over;
model, effort, permission mode, MCP servers and the system prompt stay as they were until the next start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from forge.agent.hooks.engine import Engine
from forge.agent.hooks.lending import engine_of
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.watching import Watching, matcher_names
from forge.foundation.environment import effective_env
from forge.foundation.errors import ForgeError
from forge.foundation.origin import SETTINGS_ORDER, Scope
from forge.foundation.own_writes import OwnWrites
from forge.foundation.paths import Places
from forge.foundation.permissions.rule import Rule
from forge.foundation.settings import SOURCES, parse_setting_sources
from forge.foundation.settings_merge import Layer, build
from forge.foundation.settings_rules import permission_rules
from forge.foundation.toml_settings import FILE_NAME as TOML
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.guarding import change_guard
from forge.hosts.hook_sources import sources
from forge.hosts.lookouts import Holds
from forge.hosts.options import RunOptions

SKILLS = "skills"
_HOOK_FILES = ("hooks.json", os.path.join("hooks", "hooks.json"))
_COMPONENTS = ("skills", "commands", "agents", "output-styles")
_PLUGINS = os.path.join("plugins", "installed_plugins.json")
_FROM_SETTINGS = frozenset(scope.wire for scope in SETTINGS_ORDER)


def watch(
    session: Session, run: tuple[RunOptions, dict[str, str], OwnWrites], holder: Holds, named: list[str]
) -> Watching:
    """Begins to watch for a session; `named` are files that hooks want to be told about."""
    o, env, own = run
    reloading = Reloading(session, o, env, holder)
    wanted = () if o.bare or o.safe_mode else watched_sources(o, holder.c.places)

    def take_over(source: str, path: str, wanted: bool) -> None:
        reloading.take_over(source, path, wanted=wanted)
        watching.rename(_names(session))

    watching = Watching(session, wanted, take_over)
    own.listener = watching.own_write
    watching.begin(_names(session), named)
    return watching


def _names(session: Session) -> list[str]:
    engine = engine_of(session)
    return matcher_names(h.matcher for h in engine.hooks("FileChanged")) if engine is not None else []


def watched_sources(o: RunOptions, p: Places) -> Iterator[tuple[str, str]]:
    """(source, path) of everything whose change matters, whether it exists or not."""
    read = SOURCES if o.setting_sources is None else parse_setting_sources(o.setting_sources)
    if "user" in read:
        for folder in p.user_dirs:
            for name in ("settings.json", TOML, *_HOOK_FILES):
                yield "user_settings", os.path.join(folder, name)
    if "project" in read:
        for folder in p.project_dirs:
            for name in ("settings.json", *_HOOK_FILES):
                yield "project_settings", os.path.join(folder, name)
    if "local" in read:
        yield from (("local_settings", os.path.join(d, "settings.local.json")) for d in p.local_dirs)
    for folder in p.managed_dirs:
        yield "policy_settings", os.path.join(folder, "managed-settings.json")
        yield "policy_settings", os.path.join(folder, "managed-settings.d")
    for folder in (*p.user_dirs, *p.project_dirs):
        yield from ((SKILLS, os.path.join(folder, name)) for name in _COMPONENTS)
    yield from ((SKILLS, os.path.join(folder, _PLUGINS)) for folder in p.user_dirs)
    yield from ((SKILLS, os.path.join(folder, "plugins")) for folder in p.project_dirs)


class Reloading:
    """Takes changed settings over. Layers that a hook objects to stay what they were."""

    def __init__(self, session: Session, o: RunOptions, env: dict[str, str], holder: Holds) -> None:
        self._session = session
        self._o = o
        self._env = env
        self._holder = holder
        self._held: dict[str, Layer | None] = {}

    def take_over(self, source: str, path: str, *, wanted: bool) -> None:
        """Makes the session follow a changed file, or keep what it knows of it."""
        if source == SKILLS:
            if wanted:
                self._reload_components()
            return
        if not wanted:
            self._held.setdefault(path, _layer(self._holder.c, path))
            return
        self._held.pop(path, None)
        try:
            now = load_configuration(self._o, self._env, self._holder.c.places.cwd)
        except ForgeError as error:
            self._session.warn(f"Changed settings are not used: {error}")
            return
        self._apply(now)

    def _reload_components(self) -> None:
        reload = self._session.keep(Ecosystem).reload
        if reload is not None:
            reload()

    def _apply(self, now: Configuration) -> None:
        before = self._holder.c
        settings = build(now.places, self._layers(now), now.settings.diagnostics)
        env, _ = effective_env(self._env, settings, trusted=now.trusted)
        rules, directories, _ = permission_rules(settings, trusted=now.trusted)
        whole = [os.path.abspath(os.path.join(now.places.cwd, d)) for d in directories]
        added = [d for d in now.directories if d not in whole and d in before.directories]
        own = [rule for rule in now.rules if rule.source not in _FROM_SETTINGS]
        c = msgspec.structs.replace(
            now,
            settings=settings,
            env=env,
            rules=[*rules, *own],
            directories=[*whole, *added],
            mode=before.mode,
        )
        self._holder.c = c
        self._follow(before, c, rules)
        if before.settings.get("enabledPlugins") != settings.get("enabledPlugins"):
            self._reload_components()

    def _follow(self, before: Configuration, c: Configuration, rules: list[Rule]) -> None:
        """What the session itself knows of the settings."""
        settings, session = c.settings, self._session
        session.parts = msgspec.structs.replace(session.parts, setting=settings.get, env=c.env)
        old = session.situation
        kept = [d for d in old.directories if d == old.start_dir or d not in before.directories]
        session.situation = old.changed(
            rules=[*(r for r in old.rules if r.source not in _FROM_SETTINGS), *rules],
            directories=list(dict.fromkeys([*kept, *c.directories])),
            block_reads_outside=bool(settings.get("permissions.blockReadsOutsideWorkingDirectories", False)),
            block_writes_outside=bool(
                settings.get("permissions.blockWritesOutsideWorkingDirectories", False)
            ),
        )
        change_guard(session, self._o, c)
        engine = engine_of(session)
        if engine is not None and not (self._o.bare or self._o.safe_mode):
            exchange_hooks(engine, c)

    def _layers(self, now: Configuration) -> list[Layer]:
        """The layers on disk, except those that are held, broken, or belong to the host."""
        before = {layer.path: layer for layer in self._holder.c.settings.layers}
        found = {layer.path: layer for layer in now.settings.layers if layer.scope is not Scope.FLAG}
        found |= {path: layer for path, layer in before.items() if layer.scope is Scope.FLAG}
        for path, layer in before.items():
            # Half-written or wrong: what it forbade before must not become possible meanwhile.
            if path not in found and os.path.isfile(path):
                found[path] = layer
                self._session.warn(f"{path} cannot be used as it is now; its last good content still counts.")
        for path, held in self._held.items():
            found.pop(path, None)
            if held is not None:
                found[path] = held
        p = now.places
        folders = [*p.user_dirs, *p.project_dirs, *p.local_dirs, *p.managed_dirs]
        return sorted(found.values(), key=lambda layer: _rank(layer, folders))


def exchange_hooks(engine: Engine, c: Configuration) -> None:
    """Replaces the hooks of settings files by those they have now; plugins, skills and hosts keep theirs."""
    for hook in engine.hooks():
        if not (hook.plugin or hook.base or hook.agent_id) and hook.origin.scope in SETTINGS_ORDER:
            engine.drop(hook)
    for source in sources(c):
        engine.add(source)
    engine.means = msgspec.structs.replace(
        engine.means,
        allowed_urls=c.settings.get("allowedHttpHookUrls", None),
        variables=c.settings.get("httpHookAllowedEnvVars", None),
    )


def _rank(layer: Layer, folders: list[str]) -> tuple[int, int, str]:
    """The place of a layer among the others: by scope, then in the order of the directories."""
    folder = os.path.dirname(layer.path).removesuffix(f"{os.sep}managed-settings.d")
    known = layer.dialect != "toml" and folder in folders
    return SETTINGS_ORDER.index(layer.scope), folders.index(folder) if known else -1, layer.path


def _layer(c: Configuration, path: str) -> Layer | None:
    return next((layer for layer in c.settings.layers if layer.path == path), None)
