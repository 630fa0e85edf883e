"""The WebAssembly tools of a plugin: `dev.forge/wasm-tools.json` names them, beside the modules."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.core.components.wasm_tool import WasmLimits, WasmTool
from forge.core.plugins.agent_standard import NAMESPACE
from forge.core.plugins.reading import Reading
from forge.core.registry import Component
from forge.foundation.atomic import read_text
from forge.foundation.errors import ConfigError
from forge.foundation.inside import is_really_inside
from forge.foundation.jsonfile import parse_json

FILE = f"{NAMESPACE}/wasm-tools.json"
VERSION = 1
_LONGEST_NAME = 64
_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Declared(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One tool as its author describes it."""

    description: str
    module: str
    input_schema: dict[str, Any]
    limits: WasmLimits = WasmLimits()


class WasmFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file; one that is wrong anywhere is not used, so that no tool runs other than its author meant."""

    version: int
    tools: dict[str, Declared]


def read_wasm(r: Reading) -> None:
    """Takes over the tools whose modules are inside the plugin; nothing is run or compiled here."""
    path = r.has(FILE)
    if not path:
        return
    r.files.add(path)
    tools, wrong = wasm_tools(r.plugin.root, r.name, r.plugin.id)
    for tool in tools:
        r.files.add(tool.module)
        r.wasm.append(Component(tool.full_name, tool, r.at(tool.module)))
    for problem in wrong:
        r.fail("component-load-failed", f"wasm tools load failed from {path}: {problem}")


def wasm_tools(root: str, plugin: str, plugin_id: str) -> tuple[list[WasmTool], list[str]]:
    """The tools a plugin directory declares, and what is wrong with the others."""
    path = f"{root}/{FILE}"
    try:
        declared = _read(root, path)
    except (ConfigError, msgspec.ValidationError) as error:
        return [], [error.message if isinstance(error, ConfigError) else str(error)]
    except OSError as error:
        return [], [str(error.strerror)]
    tools, wrong = [], []
    for name, each in declared.tools.items():
        tool = WasmTool(
            name=name,
            plugin=re.sub(r"[^A-Za-z0-9_-]", "_", plugin),
            plugin_id=plugin_id,
            description=each.description,
            module=os.path.normpath(os.path.join(os.path.dirname(path), each.module)),
            schema=each.input_schema,
            limits=each.limits,
        )
        problem = _problem(root, tool)
        if problem:
            wrong.append(f"{name} is not used: {problem}")
        else:
            tools.append(tool)
    return tools, wrong


def _read(root: str, path: str) -> WasmFile:
    if not is_really_inside(path, root):
        raise ConfigError("leads out of the plugin", path=path)
    declared = msgspec.convert(parse_json(read_text(path), path), WasmFile)
    if declared.version != VERSION:
        raise ConfigError(f"is of version {declared.version}; this program knows {VERSION}", path=path)
    return declared


def _problem(root: str, tool: WasmTool) -> str:
    if not _NAME.fullmatch(tool.name):
        return "a name consists of letters, digits, _ and -"
    if len(tool.full_name) > _LONGEST_NAME:
        return f"{tool.full_name} is longer than {_LONGEST_NAME} characters"
    if tool.schema.get("type") != "object":
        return 'inputSchema must be a JSON Schema with "type": "object"'
    if not is_really_inside(tool.module, root):
        return "its module is outside the plugin"
    return "" if os.path.isfile(tool.module) else f"there is no file {tool.module}"
