"""A tool of a plugin that is a WebAssembly module."""

from __future__ import annotations

from typing import Any

import msgspec


class WasmLimits(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """How much one call may use. None: what is usual, or for a user's settings what is allowed at most."""

    fuel: int | None = None
    memory_mb: int | None = None
    seconds: float | None = None
    output_kb: int | None = None


class WasmTool(msgspec.Struct, frozen=True):
    """`module` is the absolute path of the file, `schema` describes the input."""

    name: str
    plugin: str
    plugin_id: str
    description: str
    module: str
    schema: dict[str, Any]
    limits: WasmLimits = WasmLimits()

    @property
    def full_name(self) -> str:
        return f"wasm__{self.plugin}__{self.name}"
