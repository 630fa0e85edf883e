"""What an agent tells a hook on its standard input, as far as diffy needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.system.liveness import is_alive, process_start


class Payload(msgspec.Struct, frozen=True):
    """The event. Missing or odd input counts as a call by hand: everything is empty then."""

    session_id: str = ""
    cwd: str = ""
    hook_event_name: str = ""
    source: str = ""
    stop_hook_active: bool = False


def read_payload() -> Payload:
    """Reads standard input, unless it is a terminal or closed."""
    try:
        if sys.stdin is None or sys.stdin.isatty():
            return Payload()
        return parse_payload(sys.stdin.buffer.read())
    except (OSError, ValueError):
        return Payload()


def parse_payload(data: bytes) -> Payload:
    """The event in some bytes; fields of another type than expected count as missing."""
    try:
        found: Any = msgspec.json.decode(data)
    except NOT_JSON:
        return Payload()
    if not isinstance(found, dict):
        return Payload()

    def text(name: str) -> str:
        value = found.get(name)
        return value if isinstance(value, str) else ""

    return Payload(
        session_id=text("session_id"),
        cwd=text("cwd"),
        hook_event_name=text("hook_event_name"),
        source=text("source"),
        stop_hook_active=found.get("stop_hook_active") is True,
    )


def working_directory(payload: Payload) -> str:
    """Where the agent is now; where this process is if that directory is gone or unknown."""
    return payload.cwd if payload.cwd and os.path.isdir(payload.cwd) else os.getcwd()


def agent_process(env: Mapping[str, str]) -> tuple[int, int]:
    """Number and start of the agent's process, zeros when it does not say."""
    number = env.get("FORGE_PID") or env.get("CLAUDE_PID") or ""
    pid = int(number) if number.isdecimal() else 0
    # A number from another container says nothing here.
    return (pid, process_start(pid)) if is_alive(pid) else (0, 0)
