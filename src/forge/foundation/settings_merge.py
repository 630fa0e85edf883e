"""Layers of settings and how they become one: scalars by precedence, objects key by key, lists joined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from forge.foundation.origin import SETTINGS_ORDER, Diagnostic, Origin, Scope
from forge.foundation.paths import Places

# The value of the highest layer counts as a whole.
WHOLE = frozenset({"fallbackModel", "modelPicker", "spellcheck", "footerLinksRegexes"})

# True in any layer wins.
LATCHES = (
    ("airGap",),
    ("disableClaudeAiConnectors",),
    ("isolatePeerMachines",),
    ("permissions", "blockReadsOutsideWorkingDirectories"),
    ("permissions", "blockWritesOutsideWorkingDirectories"),
)

_EFFORTS = ("low", "medium", "high", "xhigh", "max")

_ABSENT: Any = object()


class Layer(msgspec.Struct, frozen=True):
    """The usable content of one settings file; patterns like `/x` in its rules start at `anchor`."""

    scope: Scope
    path: str
    data: dict[str, Any]
    dialect: str = ""
    anchor: str = ""

    @property
    def origin(self) -> Origin:
        return Origin(self.scope, self.path)


class Settings(msgspec.Struct, frozen=True):
    """All layers from the weakest to the strongest, and what they add up to."""

    places: Places
    layers: list[Layer]
    merged: dict[str, Any]
    diagnostics: list[Diagnostic]

    def get(self, key: str | tuple[str, ...], default: Any = None) -> Any:
        """The value at a dotted key (a tuple where a part itself has dots)."""
        found = _lookup(self.merged, _parts(key))
        return default if found is _ABSENT else found

    def origins(self, key: str | tuple[str, ...]) -> list[Origin]:
        """Every layer that has something at this key, the weakest first."""
        return [layer.origin for layer in self.layers if _lookup(layer.data, _parts(key)) is not _ABSENT]

    def origin(self, key: str | tuple[str, ...]) -> Origin | None:
        """The layer that gave the value; for lists and objects the strongest one that took part."""
        parts = _parts(key)
        value = _lookup(self.merged, parts)
        givers = [layer for layer in self.layers if _lookup(layer.data, parts) is not _ABSENT]
        exact = [layer for layer in givers if _lookup(layer.data, parts) == value]
        chosen = (exact or givers)[-1:]
        return chosen[0].origin if chosen else None

    def by_scope(self) -> list[tuple[Scope, dict[str, Any]]]:
        """What each scope says on its own, the weakest first; scopes without a file are left out."""
        grouped = [(scope, [la.data for la in self.layers if la.scope is scope]) for scope in SETTINGS_ORDER]
        return [(scope, merge(datas)) for scope, datas in grouped if datas]


def build(places: Places, layers: list[Layer], diagnostics: list[Diagnostic]) -> Settings:
    """Settings from layers in order of strength."""
    return Settings(places, layers, merge([layer.data for layer in layers]), diagnostics)


def merge(datas: list[dict[str, Any]]) -> dict[str, Any]:
    """One object from several, the weakest first."""
    if len(datas) == 1:
        return datas[0]
    merged: dict[str, Any] = {}
    for data in datas:
        merged = {**merged, **{key: _joined(merged.get(key), data[key], key) for key in data}}
    for path in LATCHES:
        if any(_lookup(data, path) is True for data in datas):
            _store(merged, path, True)
    limits = [data["maxEffortLevel"] for data in datas if "maxEffortLevel" in data]
    if limits:
        merged["maxEffortLevel"] = min(limits, key=_EFFORTS.index)
    return merged


def _joined(low: Any, high: Any, key: str = "") -> Any:
    if key in WHOLE:
        return high
    if isinstance(low, dict) and isinstance(high, dict):
        return {**low, **{name: _joined(low.get(name), value) for name, value in high.items()}}
    if isinstance(low, list) and isinstance(high, list):
        return _unique([*low, *high])
    return high


def _unique(items: Iterable[Any]) -> list[Any]:
    """Without repeated scalars; objects count as different even when equal, as in the reference."""
    seen: set[tuple[type, Any]] = set()
    kept = []
    for item in items:
        if isinstance(item, dict | list):
            kept.append(item)
        elif (type(item), item) not in seen:
            seen.add((type(item), item))
            kept.append(item)
    return kept


def _parts(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key.split(".")) if isinstance(key, str) else key


def _lookup(data: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if not isinstance(data, dict) or part not in data:
            return _ABSENT
        data = data[part]
    return data


def _store(data: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for part in parents:
        data[part] = dict(data[part])
        data = data[part]
    data[last] = value
