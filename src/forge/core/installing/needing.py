"""Which plugins need which: what is in the way of switching one off, and what nothing needs any more."""

from __future__ import annotations

import re

from forge.core.installing.listing import find_all
from forge.core.installing.located import folder_of
from forge.core.plugins.context import Context, PluginFailure
from forge.core.plugins.installed import Installation, visible_installed
from forge.core.plugins.manifest import Dependency
from forge.core.plugins.semver import satisfies

_NUMBERS = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")


def needs_of(one: Installation, context: Context) -> list[Dependency]:
    """What an installed plugin says it depends on."""
    manifest = folder_of(one, context).manifest
    return manifest.dependencies if manifest is not None else []


def ids_of(needs: list[Dependency], market: str) -> list[str]:
    """The ids of dependencies; a bare name is in the marketplace of the plugin itself."""
    return [f"{need.name}@{need.marketplace or market}" for need in needs]


def dependants(plugin_id: str, context: Context) -> list[Installation]:
    """The plugins that need another one and work now."""
    working = {plugin.id for plugin in find_all(context).active}
    found = []
    for one in visible_installed(context.layout, context.places.cwd):
        needed = ids_of(needs_of(one, context), one.market)
        if one.id != plugin_id and one.id in working and plugin_id in needed:
            found.append(one)
    return found


def all_dependants(plugin_id: str, context: Context) -> list[str]:
    """The ids of everything that needs a plugin, in the order in which it can be switched off."""
    found: list[str] = []
    waiting = [plugin_id]
    while waiting:
        for one in dependants(waiting.pop(), context):
            if one.id not in found and one.id != plugin_id:
                found.insert(0, one.id)
                waiting.append(one.id)
    return found


def leftovers(here: list[Installation], context: Context) -> list[Installation]:
    """What is not reachable from a plugin that somebody installed by name."""
    needs = {one.id: ids_of(needs_of(one, context), one.market) for one in here}
    wanted = [one.id for one in here if not one.automatic]
    for plugin_id in wanted:
        wanted += [each for each in needs.get(plugin_id, []) if each not in wanted]
    return [one for one in here if one.automatic and one.id not in wanted]


def unneeded_note(scope: str, context: Context) -> str:
    """A line about what could be pruned now; empty when nothing could."""
    here = [one for one in visible_installed(context.layout, context.places.cwd) if one.scope == scope]
    names = [one.name for one in leftovers(here, context)]
    if not names:
        return ""
    count = f"{len(names)} auto-installed dependenc{'y' if len(names) == 1 else 'ies'}"
    return f"\n{count} no longer needed: {', '.join(names)}. Run `forge plugin prune` to remove."


def refuse_contradictions(plugin_id: str, needs: list[Dependency], context: Context) -> None:
    """Fails when no version of a dependency could suit a new plugin and those that are there already."""
    market = plugin_id.partition("@")[2]
    here = visible_installed(context.layout, context.places.cwd)
    for need, needed_id in zip(needs, ids_of(needs, market), strict=True):
        others = [
            other.version
            for one in here
            if one.id != plugin_id
            for other, other_id in _with_ids(needs_of(one, context), one.market)
            if other_id == needed_id and other.version
        ]
        if need.version and others and not _possible([need.version, *others]):
            wanted = ", ".join([need.version, *others])
            raise PluginFailure(
                f'Dependency "{needed_id}" has conflicting version requirements (no version satisfies all '
                f"of: {wanted})",
                "dependency_version_conflict",
            )


def _with_ids(needs: list[Dependency], market: str) -> list[tuple[Dependency, str]]:
    return list(zip(needs, ids_of(needs, market), strict=True))


def _possible(ranges: list[str]) -> bool:
    """Whether some version is in all ranges: if any is, then one at or right behind a bound of theirs."""
    bounds = [[int(n or 0) for n in found.groups()] for r in ranges for found in _NUMBERS.finditer(r)]
    versions = {"0.0.0", *(f"{a}.{b}.{c + more}" for a, b, c in bounds for more in (0, 1))}
    return any(all(satisfies(version, r) for r in ranges) for version in versions)
