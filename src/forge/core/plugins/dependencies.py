"""Which plugins lack others they need. A missing one takes along everything that needs it in turn."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from forge.core.plugins.layout import split_id
from forge.core.plugins.manifest import Dependency
from forge.core.plugins.reading import PluginError
from forge.core.plugins.semver import satisfies


class Needing(msgspec.Struct, frozen=True):
    """A plugin as far as dependencies matter; `installed` ones look in their own marketplace first."""

    id: str
    name: str
    version: str | None = None
    dependencies: list[Dependency] = []
    installed: bool = False


def unmet(plugins: Sequence[Needing], off: Sequence[Needing] = ()) -> list[PluginError]:
    """An error for each dependency that is missing, off, or of another version, until nothing changes."""
    left, errors = list(plugins), list[PluginError]()
    while True:
        found = [error for one in left for error in _missing(one, left, off)]
        if not found:
            return errors
        errors += found
        failed = {error.plugin for error in found}
        left = [one for one in left if one.id not in failed]


def resolved(dependency: Dependency, owner_id: str, *, installed: bool) -> str:
    """The full name of a dependency: a bare one belongs to the marketplace of an installed owner."""
    if dependency.marketplace or not installed:
        return str(dependency)
    return f"{dependency.name}@{split_id(owner_id)[1]}"


def _missing(one: Needing, plugins: Sequence[Needing], off: Sequence[Needing]) -> list[PluginError]:
    errors = []
    for dependency in one.dependencies:
        wanted = resolved(dependency, one.id, installed=one.installed)
        if dependency.name == one.name or wanted == one.id:
            continue
        provider = _provider(wanted, plugins)
        if provider is None:
            errors.append(PluginError(one.id, "dependency-unsatisfied", _absent(wanted, off)))
        elif dependency.version and provider.version and not satisfies(provider.version, dependency.version):
            message = f'Requires "{wanted}" {dependency.version}, installed {provider.version}'
            errors.append(PluginError(one.id, "dependency-version-unsatisfied", message))
    return errors


def _provider(wanted: str, plugins: Sequence[Needing]) -> Needing | None:
    name, market = split_id(wanted)
    exact = next((p for p in plugins if p.id == wanted), None)
    # A plugin from the command line or a local copy stands in for the installed one of its name.
    same = (p for p in plugins if p.name == name and (not market or not p.installed))
    return exact or next(same, None)


def _absent(wanted: str, off: Sequence[Needing]) -> str:
    if _provider(wanted, off) is not None:
        return f'Dependency "{wanted}" is disabled — run `forge plugin enable {wanted}`'
    advice = f"run `forge plugin install {wanted}`, or check that its marketplace is added"
    return f'Dependency "{wanted}" is not installed — {advice}'
