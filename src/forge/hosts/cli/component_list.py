"""Components as people and scripts see them: what there is, where it comes from, what it shadows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forge.core.components.catalog import Catalog
from forge.core.registry import Component, Registry

# Left out of listings: bodies are in files, and plugins keep their options to themselves.
_HIDDEN = frozenset({"plugin", "prompt", "body", "inline", "text", "config"})


class Row(msgspec.Struct, frozen=True):
    """One component; `shadows` are the places of those that it hides."""

    kind: str
    name: str
    scope: str
    path: str
    plugin: str = ""
    description: str = ""
    shadows: list[str] = []

    @property
    def origin(self) -> str:
        return " ".join(filter(None, [self.plugin or self.scope, self.path]))


def all_rows(catalog: Catalog) -> list[Row]:
    """Every component of every kind, the winners with what they shadow."""
    rows = [*skill_rows(catalog), *_rows("agent", catalog.agents), *_rows("output style", catalog.styles)]
    rows += [*_rows("MCP server", catalog.servers), *_rows("language server", catalog.languages)]
    rows += [
        Row("hooks", ", ".join(map(str, h.events)), h.origin.scope.value, h.origin.path, h.origin.plugin)
        for h in catalog.hooks
    ]
    rows += [_row("WebAssembly tool", c, []) for c in catalog.wasm]
    extras = [extra for contribution in catalog.contributions for extra in contribution.extras]
    rows += [Row(e.kind, e.name, e.origin.scope.value, e.origin.path, e.origin.plugin) for e in extras]
    return rows


def skill_rows(catalog: Catalog) -> list[Row]:
    """Skills and commands."""
    return [
        msgspec.structs.replace(row, kind="command") if catalog.skills[row.name].is_command else row
        for row in _rows("skill", catalog.skills)
    ]


def agent_rows(catalog: Catalog) -> list[Row]:
    """The kinds of agents."""
    return list(_rows("agent", catalog.agents))


def details(component: Component[Any], shadowed: list[Component[Any]]) -> dict[str, Any]:
    """Everything a component says about itself that is not its default, without secrets."""
    value = component.value
    fields = {f.encode_name: getattr(value, f.name) for f in msgspec.structs.fields(value)}
    defaults = {f.encode_name: _default(f) for f in msgspec.structs.fields(value)}
    told = {k: v for k, v in fields.items() if k not in _HIDDEN and (v != defaults[k] or k == "name")}
    origin = component.origin
    return {
        **msgspec.to_builtins(told),
        "scope": origin.scope.value,
        "path": origin.path,
        **({"plugin": origin.plugin} if origin.plugin else {}),
        "shadows": [c.origin.path or c.origin.scope.value for c in shadowed],
    }


def _rows(kind: str, registry: Registry[Any]) -> Iterator[Row]:
    for winner in registry:
        yield _row(kind, winner, registry.find(winner.name)[1:])


def _row(kind: str, component: Component[Any], shadowed: list[Component[Any]]) -> Row:
    origin = component.origin
    words = " ".join(getattr(component.value, "description", "").split())
    hidden = [c.origin.path or c.origin.scope.value for c in shadowed]
    return Row(kind, component.name, origin.scope.value, origin.path, origin.plugin, words, hidden)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else None
