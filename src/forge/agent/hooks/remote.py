"""Runs an mcp_tool hook: calls a tool of a connected server and reads its text like a command's output."""

from __future__ import annotations

import re
from typing import Any

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.run import Firing
from forge.core.tool import ToolError
from forge.foundation.encode import dumps

_PATH = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_.]*)\}")


async def run(firing: Firing, hook: Hook) -> Run:
    """The text of the tool; a server that is missing or an error of the tool is a failure."""
    call, server = firing.engine.means.call_tool, str(hook.fields["server"])
    if call is None:
        return Run(hook, None, failure=f"MCP server '{server}' not connected")
    given = filled(hook.fields.get("input", {}), firing.payload)
    try:
        text = await call(server, str(hook.fields["tool"]), given)
    except ToolError as error:
        return Run(hook, None, failure=error.message)
    return Run(hook, stdout=text, combined=text)


def filled(value: Any, payload: dict[str, Any]) -> Any:
    """An input in which `${a.b}` is replaced by what the payload has there."""
    if isinstance(value, dict):
        return {key: filled(item, payload) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, payload) for item in value]
    return _PATH.sub(lambda m: _at(payload, m), value) if isinstance(value, str) else value


def _at(payload: Any, match: re.Match[str]) -> str:
    found = payload
    for part in match[1].split("."):
        if not isinstance(found, dict) or part not in found:
            return match[0]
        found = found[part]
    return found if isinstance(found, str) else dumps(found).decode()
