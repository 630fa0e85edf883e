"""The JSON a hook reads on its stdin: common fields in the reference's order, then those of the event."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.foundation.encode import dumps
from forge.foundation.hookspec import HookSpec


class Standing(msgspec.Struct, frozen=True):
    """What every payload tells of the session; empty values are left out."""

    session_id: str
    transcript_path: str
    cwd: str
    prompt_id: str = ""
    permission_mode: str = ""
    agent_id: str = ""
    agent_type: str = ""
    effort: str = ""


def payload_of(spec: HookSpec, standing: Standing, own: dict[str, Any]) -> dict[str, Any]:
    """The payload of an event; a field its row does not have, or lacks, is a mistake of the caller."""
    names = [field.removesuffix("?") for field in spec.fields]
    wrong = [name for name in own if name not in names]
    missing = [field for field in spec.fields if not field.endswith("?") and field not in own]
    if wrong or missing:
        raise ValueError(f"{spec.name}: unknown fields {wrong}, missing fields {missing}")
    told: dict[str, Any] = {
        "session_id": standing.session_id,
        "transcript_path": standing.transcript_path,
        "cwd": standing.cwd,
    }
    if standing.prompt_id:
        told["prompt_id"] = standing.prompt_id
    if spec.mode:
        told["permission_mode"] = standing.permission_mode
    if standing.agent_id:
        told["agent_id"] = standing.agent_id
    if standing.agent_id or standing.agent_type:
        told["agent_type"] = standing.agent_type
    # Before the first prompt nothing has been asked with any effort.
    if spec.effort and standing.effort and standing.prompt_id:
        told["effort"] = {"level": standing.effort}
    told["hook_event_name"] = spec.name
    return told | {name: own[name] for name in names if name in own}


def encoded(payload: dict[str, Any]) -> bytes:
    """The payload as one line."""
    return dumps(payload) + b"\n"


def match_value(spec: HookSpec, payload: dict[str, Any]) -> str | None:
    """What matchers are compared with; None for events without such a field."""
    if not spec.match:
        return None
    value = payload.get(spec.match, "")
    return str(value).rpartition("/")[2] if spec.name == "FileChanged" else str(value)


def hook_name(spec: HookSpec, value: str | None) -> str:
    """The event with its match value, as texts and events call it; the end of an agent goes without."""
    return f"{spec.name}:{value}" if value and spec.name != "SubagentStop" else spec.name
