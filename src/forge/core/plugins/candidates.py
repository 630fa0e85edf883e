"""Where plugins are looked for: the command line, scan roots, installed ones, directories of skills."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from forge.core.plugins.context import PluginFailure
from forge.core.plugins.installed import Installation, visible_installed
from forge.core.plugins.known import Known, read_known
from forge.core.plugins.layout import Layout, find_layout
from forge.core.plugins.manifest import Form, Found, read_manifest
from forge.core.plugins.market import Market, read_market
from forge.core.plugins.reading import PluginError
from forge.foundation.errors import ConfigError
from forge.foundation.inside import is_inside
from forge.foundation.origin import Scope
from forge.foundation.paths import Places

INLINE, LOCAL, SKILLS = "inline", "local", "skills-dir"
_ADDRESS = ("https://", "http://")
# What the reference keeps beside plugins in its own directory.
_NOT_PLUGINS = frozenset(("cache", "marketplaces", "data", "store", "synced", "repos"))
_SIGNS = (
    "skills",
    "commands",
    "agents",
    "hooks/hooks.json",
    ".mcp.json",
    ".lsp.json",
    "output-styles",
    "SKILL.md",
    "themes",
    "workflows",
    "monitors/monitors.json",
)
_SCOPES = {"project": Scope.PROJECT, "local": Scope.LOCAL}
_STRENGTH = ("managed", "local", "project", "user")


class Request(msgspec.Struct, frozen=True):
    """What discovery needs to know.

    `enabled` and `configs` are the merged settings `enabledPlugins` and `pluginConfigs`, `secrets` the saved
    secrets by plugin id. `unpack` turns a .zip into a directory. With `safe` plugins are listed and not read.
    """

    places: Places
    env: Mapping[str, str] = {}
    enabled: Mapping[str, Any] = {}
    configs: Mapping[str, Any] = {}
    secrets: Mapping[str, Any] = {}
    trusted: bool = False
    plugin_dirs: list[str] = []
    unpack: Callable[[str], str] | None = None
    safe: bool = False

    def __repr__(self) -> str:
        # Without options and secrets.
        return f"Request(cwd={self.places.cwd!r}, plugin_dirs={self.plugin_dirs!r}, trusted={self.trusted})"

    @property
    def layout(self) -> Layout:
        return find_layout(self.places, self.env)


class Candidate(msgspec.Struct, frozen=True):
    """A directory that may be a plugin. The smaller `rank` wins among plugins of one name."""

    id: str
    found: Found
    kind: str
    rank: int
    scope: Scope
    entry: dict[str, Any] | None = None
    error_id: str = ""
    failure_id: str = ""
    of_project: bool = False
    inside: bool = False

    @property
    def root(self) -> str:
        return self.found.root

    @property
    def name(self) -> str:
        """The manifest's name, else the entry's, else the directory's."""
        if self.found.manifest is not None:
            return self.found.manifest.name
        if self.found.form is Form.STANDARD and isinstance(self.found.raw.get("name"), str):
            return str(self.found.raw["name"])
        if self.entry is not None and self.found.form is Form.NONE:
            return str(self.entry["name"])
        return os.path.basename(self.root)


def find_candidates(request: Request) -> tuple[list[Candidate], list[PluginError]]:
    """Everything that may be a plugin, the strongest kinds first, and what could not be looked at."""
    errors: list[PluginError] = []
    found = _inline(request, errors)
    found += _local(request, errors)
    found += _installed(request, errors)
    found += _skill_directories(request)
    return found, errors


def is_plugin(root: str) -> bool:
    """Whether a directory without a manifest has the parts of a plugin."""
    return any(os.path.exists(f"{root}/{sign}") for sign in _SIGNS)


def _inline(request: Request, errors: list[PluginError]) -> list[Candidate]:
    listed = request.env.get("CLAUDE_CODE_PLUGIN_DIRS", "")
    directories = [*request.plugin_dirs, *filter(None, listed.split(os.pathsep))]
    found: list[Candidate] = []
    for number, given in enumerate(directories):
        path = os.path.abspath(os.path.join(request.places.cwd, os.path.expanduser(given)))
        label = f"inline[{number}]"
        if given.startswith(_ADDRESS):
            found += _packed(request, given, label, errors)
        elif not os.path.exists(path):
            errors.append(PluginError(label, "path-not-found", f"Path not found: {path}", path))
        elif os.path.isfile(path):
            found += _packed(request, path, label, errors)
        else:
            inner = _plugins_at(path)
            found += [_inline_candidate(one, f"inline[{number + n}]") for n, one in enumerate(inner)]
    # The same directory twice is one plugin.
    seen: dict[str, Candidate] = {}
    return [candidate for candidate in found if seen.setdefault(candidate.root, candidate) is candidate]


def _packed(request: Request, path: str, label: str, errors: list[PluginError]) -> list[Candidate]:
    """A .zip is unpacked first; any other file is a plugin without parts."""
    if request.unpack is None or (not path.startswith(_ADDRESS) and not path.endswith(".zip")):
        return [_inline_candidate(path, label)]
    try:
        root = request.unpack(path)
    except (PluginFailure, OSError) as error:
        place = "" if path.startswith(_ADDRESS) else path
        errors.append(PluginError(label, "generic-error", f"Failed to load plugin: {error}", place))
        return []
    inner = [child.path for child in os.scandir(root) if child.is_dir()]
    if not is_plugin(root) and read_manifest(root, bare=False).form is Form.NONE and len(inner) == 1:
        root = inner[0]
    return [_inline_candidate(root, label)]


def _plugins_at(path: str) -> list[Found | str]:
    own = read_manifest(path, bare=False)
    if own.form is not Form.NONE or is_plugin(path):
        return [own]
    children = [c for c in _directories(path) if not os.path.basename(c).startswith(".")]
    read = [read_manifest(child, bare=False) for child in children]
    return [one for one in read if one.form is not Form.NONE]


def _inline_candidate(place: Found | str, label: str) -> Candidate:
    found = read_manifest(place, bare=False) if isinstance(place, str) else place
    directory = os.path.basename(found.root)
    name = found.manifest.name if found.manifest else directory
    error_id = f"{directory}@{INLINE}"
    return Candidate(f"{name}@{INLINE}", found, INLINE, 1, Scope.FLAG, None, error_id, label)


def _local(request: Request, errors: list[PluginError]) -> list[Candidate]:
    """Plugins in the `plugins` directories of user and project; the later a root, the stronger."""
    p = request.places
    project = [d for d in p.project_dirs if d not in p.user_dirs]
    roots = [(f"{directory}/plugins", Scope.USER) for directory in p.user_dirs]
    roots.append((f"{p.cwd}/plugins", Scope.PROJECT))
    roots += [(f"{directory}/plugins", Scope.PROJECT) for directory in project]
    found: list[Candidate] = []
    for number, (root, scope) in enumerate(roots):
        rank = 2 + len(roots) - number
        for one in _scan(root, root.startswith((f"{p.claude_dir}/", f"{p.cwd}/plugins")), errors):
            name = one.manifest.name if one.manifest else os.path.basename(one.root)
            of_project = scope is Scope.PROJECT
            found.append(
                Candidate(f"{name}@{LOCAL}", one, LOCAL, rank, scope, of_project=of_project, inside=True)
            )
    return sorted(found, key=lambda candidate: candidate.rank)


def _scan(root: str, needs_manifest: bool, errors: list[PluginError]) -> list[Found]:
    try:
        children = _directories(root)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        message = f"Plugins cannot be looked for in {root}: {error.strerror}"
        errors.append(PluginError(LOCAL, "scan-root-unreadable", message, root))
        return []
    plain = [c for c in children if os.path.basename(c) not in _NOT_PLUGINS and "/." not in c[len(root) :]]
    read = [read_manifest(child) for child in plain]
    return [one for one in read if one.form is not Form.NONE or (not needs_manifest and is_plugin(one.root))]


def _directories(path: str) -> list[str]:
    with os.scandir(path) as entries:
        return sorted(entry.path for entry in entries if entry.is_dir())


def _installed(request: Request, errors: list[PluginError]) -> list[Candidate]:
    layout = request.layout
    records: list[Installation] = []
    known: dict[str, Known] = {}
    try:
        records = visible_installed(layout, request.places.cwd)
        known = read_known(layout) if records else {}
    except ConfigError as error:
        errors.append(PluginError("installed", "generic-error", str(error), error.path))
    best: dict[str, Installation] = {}
    for one in sorted(records, key=lambda r: _STRENGTH.index(r.scope) if r.scope in _STRENGTH else 9):
        best.setdefault(one.id, one)
    markets: dict[str, Market | None] = {}
    order = {one.id: n for n, one in enumerate(records)}
    return [
        _installed_candidate(one, known.get(one.market), markets)
        for one in sorted(best.values(), key=lambda one: order[one.id])
    ]


def _installed_candidate(
    one: Installation, known: Known | None, markets: dict[str, Market | None]
) -> Candidate:
    market = _market(known, markets)
    entry = market.find(one.name) if market else None
    root = _in_place(known, market, entry.source) if known and market and entry else ""
    rank, scope = (0, Scope.MANAGED) if one.scope == "managed" else (50, _SCOPES.get(one.scope, Scope.USER))
    return Candidate(
        one.id,
        read_manifest((root or one.path).rstrip("/"), bare=False),
        "installed",
        rank,
        scope,
        entry.raw if entry else None,
        of_project=False,
        inside=not root,
    )


def _market(known: Known | None, markets: dict[str, Market | None]) -> Market | None:
    if known is None:
        return None
    if known.name not in markets:
        try:
            markets[known.name] = read_market(known)
        except (PluginFailure, ConfigError):
            markets[known.name] = None
    return markets[known.name]


def _in_place(known: Known, market: Market, source: Any) -> str:
    """The folder of a plugin in a marketplace of the user's own; it is read there, not from its copy."""
    if not known.in_place or not isinstance(source, str):
        return ""
    start = market.plugin_root if not source.startswith(".") else ""
    path = os.path.normpath(os.path.join(market.root, start, source))
    return path if os.path.isdir(path) and is_inside(path, os.path.normpath(market.root)) else ""


def _skill_directories(request: Request) -> list[Candidate]:
    """Folders of skills that are plugins; the project's wait for trust."""
    p = request.places
    project = [d for d in p.project_dirs if d not in p.user_dirs]
    places = [(d, 60, Scope.USER) for d in p.user_dirs] + [(d, 70, Scope.PROJECT) for d in project]
    found = []
    for directory, rank, scope in places:
        try:
            children = _directories(f"{directory}/skills")
        except OSError:
            continue
        for child in children:
            one = read_manifest(child, bare=False)
            if one.form in (Form.CLAUDE, Form.FORGE):
                name = one.manifest.name if one.manifest else os.path.basename(child)
                of_project = scope is Scope.PROJECT
                found.append(Candidate(f"{name}@{SKILLS}", one, SKILLS, rank, scope, of_project=of_project))
    return found
