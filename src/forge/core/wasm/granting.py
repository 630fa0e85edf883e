"""What the user's settings let WebAssembly tools do: `wasm.grants` and `wasm.limits`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.core.components.wasm_tool import WasmLimits, WasmTool
from forge.core.tool import ToolError
from forge.foundation.homes import absolute

USUAL = WasmLimits(fuel=10_000_000_000, memory_mb=128, seconds=10, output_kb=256)
MOST = WasmLimits(fuel=100_000_000_000, memory_mb=1024, seconds=60, output_kb=1024)


class Grant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Directories a tool may read, those it may change, and the variables it may see."""

    read: list[str] = []
    write: list[str] = []
    env: list[str] = []


class WasmSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The setting `wasm`; the keys of `grants` are `plugin/tool` or `plugin/*`."""

    grants: dict[str, Grant] = {}
    limits: WasmLimits = WasmLimits()


def read_settings(raw: Any) -> WasmSettings:
    """The setting as it is meant; ToolError if it cannot be understood, for then nothing may run."""
    try:
        return msgspec.convert(raw if raw is not None else {}, WasmSettings)
    except msgspec.ValidationError as error:
        raise ToolError(f"The setting `wasm` cannot be used, so no WebAssembly tool runs: {error}") from None


def grant_of(settings: WasmSettings, tool: WasmTool) -> Grant:
    """Everything that entries for this tool and for its whole plugin allow."""
    plugins = {tool.plugin, tool.plugin_id}
    keys = [f"{plugin}/{name}" for plugin in plugins for name in ("*", tool.name)]
    found = [settings.grants[key] for key in keys if key in settings.grants]
    return Grant(
        read=[path for grant in found for path in grant.read],
        write=[path for grant in found for path in grant.write],
        env=[name for grant in found for name in grant.env],
    )


def limits_of(settings: WasmSettings, tool: WasmTool) -> WasmLimits:
    """What the tool asks for or what is usual, but never more than the user allows."""
    chosen = {}
    for field in WasmLimits.__struct_fields__:
        most = getattr(settings.limits, field)
        ceiling = getattr(MOST, field) if most is None else most
        wanted = getattr(tool.limits, field)
        usual = getattr(USUAL, field) if most is None else most
        chosen[field] = min(usual if wanted is None else wanted, ceiling)
    return WasmLimits(**chosen)


def directories(grant: Grant, home: str, project: str) -> list[tuple[str, bool]]:
    """Absolute directories and whether they may be changed; ToolError for one that is not there."""
    found: dict[str, bool] = {}
    named = [(path, False) for path in grant.read] + [(path, True) for path in grant.write]
    for path, mutable in named:
        directory = absolute(path, project, home)
        if not os.path.isdir(directory):
            raise ToolError(f"The setting wasm.grants names {path}, but {directory} is not a directory.")
        found[directory] = found.get(directory, False) or mutable
    return list(found.items())


def variables(grant: Grant, env: Mapping[str, str]) -> dict[str, str]:
    """The granted variables that are set."""
    return {name: env[name] for name in grant.env if name in env}
