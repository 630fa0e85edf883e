"""A WebAssembly module as a tool: its input is JSON on standard input, its result what it prints."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import msgspec

from forge.core.components.wasm_tool import WasmTool
from forge.core.registry import Component
from forge.core.tool import Action, Tool, ToolContext, ToolError, ToolOutput
from forge.core.wasm.granting import directories, grant_of, limits_of, read_settings, variables
from forge.core.wasm.run import Ended, Order, run_module

MISSING = (
    "WebAssembly tools need the package wasmtime, which is not installed. "
    "Install it with: pip install 'forgecode[wasm]'"
)
_KNOBS = {"time": "seconds", "fuel": "fuel", "output": "outputKb"}


def wasm_tool(
    component: Component[WasmTool], settings: Callable[[], Any], find: Callable[[str], object] = find_spec
) -> Tool:
    """The tool of a module; `settings` gives the user's own setting `wasm`, `find` an installed package."""
    tool = component.value

    async def run(given: dict[str, Any], ctx: ToolContext) -> ToolOutput:
        if find("wasmtime") is None:
            raise ToolError(MISSING)
        return told(tool, await run_module(_order(tool, given, ctx, settings())))

    return Tool(
        tool.full_name,
        tool.description,
        tool.schema,
        lambda: Action(dict[str, Any], run),
        origin=component.origin,
        deferred=True,
    )


def _order(tool: WasmTool, given: dict[str, Any], ctx: ToolContext, raw: Any) -> Order:
    settings = read_settings(raw)
    grant = grant_of(settings, tool)
    return Order(
        name=tool.name,
        module=tool.module,
        given=msgspec.json.encode(given),
        limits=limits_of(settings, tool),
        directories=directories(grant, ctx.env.get("HOME", "/"), ctx.start_dir),
        variables=variables(grant, ctx.env),
    )


def told(tool: WasmTool, ended: Ended) -> ToolOutput:
    """What the model is told; ToolError for everything but a module that ended well."""
    text = ended.out.decode("utf-8", "replace")
    data = {"stdout": text, "stderr": ended.err, "exitCode": ended.code, "fuel": ended.fuel}
    if ended.end == "exit" and ended.code == 0:
        return ToolOutput(text or "(no output)", data)
    if ended.end == "exit":
        said = "\n".join(part for part in (ended.err, text.strip()) if part)
        raise ToolError(f"Exit code {ended.code}" + (f"\n{said}" if said else ""), data)
    raise ToolError(_failure(tool, ended), data)


def _failure(tool: WasmTool, ended: Ended) -> str:
    said = f"\nIt said: {ended.err}" if ended.err else ""
    knob = _KNOBS.get(ended.end)
    if knob is not None:
        reason = "it used up its fuel" if ended.end == "fuel" else ended.reason
        advice = f" (the limit is wasm.limits.{knob} in the user's settings)"
        return f"{tool.full_name} was ended: {reason}{advice}.{said}"
    if ended.end == "trap":
        return f"{tool.full_name} crashed: {ended.reason}.{said}"
    return f"{tool.full_name} cannot run: {ended.reason}"
