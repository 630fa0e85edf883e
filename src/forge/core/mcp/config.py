"""From a server's entry in a configuration to the way it is started."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forge.core.mcp.port import START_SECONDS, Launch

RESERVED = frozenset({"workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser"})
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_LEAST_TIMEOUT = 1000


def transport(entry: Any) -> str:
    """How an entry is reached; empty for one that is not usable."""
    if not isinstance(entry, dict):
        return ""
    kind = entry.get("type") or ("stdio" if "command" in entry else "")
    if kind == "stdio":
        return "stdio" if _is_command(entry) else ""
    if kind in ("http", "sse", "ws"):
        return str(kind) if isinstance(entry.get("url"), str) and entry["url"] else ""
    return "sdk" if kind == "sdk" else ""


def launch(name: str, entry: Mapping[str, Any], env: Mapping[str, str], cwd: str) -> Launch:
    """How a stdio entry is started; `env` is the environment of the server without its own entries."""
    own = {str(key): str(value) for key, value in (entry.get("env") or {}).items()}
    return Launch(
        name,
        str(expand(entry["command"], env)),
        [str(expand(arg, env)) for arg in entry.get("args") or []],
        {**env, **{key: str(expand(value, env)) for key, value in own.items()}},
        cwd,
        _milliseconds(env.get("MCP_TIMEOUT"), START_SECONDS) or START_SECONDS,
        _call_seconds(entry.get("timeout"), env),
    )


def remote(name: str, entry: Mapping[str, Any], env: Mapping[str, str], cwd: str) -> Launch:
    """How an entry with an address is reached."""
    headers = entry.get("headers")
    given = {str(k): str(expand(v, env)) for k, v in headers.items()} if isinstance(headers, dict) else {}
    return Launch(
        name,
        cwd=cwd,
        start_seconds=_milliseconds(env.get("MCP_TIMEOUT"), START_SECONDS) or START_SECONDS,
        call_seconds=_call_seconds(entry.get("timeout"), env),
        kind=str(entry["type"]),
        url=str(expand(entry["url"], env)),
        headers=given,
    )


def shown(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry without the parts that hold secrets."""
    return {key: value for key, value in entry.items() if key not in ("env", "headers")}


def hosted(name: str, env: Mapping[str, str], cwd: str) -> Launch:
    """A server inside the host program: nothing to start, only how long it may take."""
    start = _milliseconds(env.get("MCP_TIMEOUT"), START_SECONDS) or START_SECONDS
    return Launch(name, cwd=cwd, start_seconds=start, call_seconds=_call_seconds(None, env), kind="sdk")


def expand(value: Any, env: Mapping[str, str]) -> Any:
    """`${NAME}` and `${NAME:-default}` replaced in all texts; what is not set stays as written."""
    if isinstance(value, dict):
        return {key: expand(item, env) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item, env) for item in value]
    return _VARIABLE.sub(lambda m: _replaced(m, env), value) if isinstance(value, str) else value


def _replaced(match: re.Match[str], env: Mapping[str, str]) -> str:
    return env.get(match[1]) or (match[2] if match[2] is not None else env.get(match[1], match[0]))


def _is_command(entry: dict[str, Any]) -> bool:
    command, args, env = entry.get("command"), entry.get("args") or [], entry.get("env") or {}
    if not isinstance(command, str) or not command or not isinstance(args, list) or not isinstance(env, dict):
        return False
    return all(isinstance(arg, str) for arg in args) and all(isinstance(v, str) for v in env.values())


def _call_seconds(own: Any, env: Mapping[str, str]) -> float | None:
    """How long a call may take; an entry's own value counts from a second on."""
    if isinstance(own, int | float) and not isinstance(own, bool) and own >= _LEAST_TIMEOUT:
        return own / 1000
    return _milliseconds(env.get("MCP_TOOL_TIMEOUT"), None)


def _milliseconds(text: str | None, default: float | None) -> float | None:
    return int(text) / 1000 if text and text.isdecimal() and int(text) > 0 else default
