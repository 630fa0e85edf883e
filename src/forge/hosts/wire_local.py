"""Records of what Forge says itself: answers of local commands, failures of the model, a new beginning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.agent.event import LocalOutput, Restarted
from forge.agent.ledger import usage_record
from forge.core.message import Usage

Record = dict[str, Any]

_NO_USAGE = {
    **usage_record(Usage()),
    "output_tokens_details": None,
    "service_tier": None,
    "inference_geo": None,
    "iterations": None,
    "speed": None,
}


def synthetic(identity: str, text: str, stop_reason: str, stop_sequence: str | None) -> Record:
    """A message in the place of the model's."""
    return {
        "id": identity,
        "type": "message",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "stop_details": None,
        "container": None,
        "diagnostics": None,
        "context_management": None,
        "usage": _NO_USAGE,
    }


def answered(
    e: LocalOutput, user: Callable[..., Record], assistant: Callable[[Record, str], Record]
) -> list[Record]:
    """What a local command said, as an answer; a compaction is only told to be over."""
    stream = "stderr" if e.failed else "stdout"
    source = f"<local-command-{stream}>{e.text}</local-command-{stream}>"
    if not e.command:
        return [user(source, e.uuid, isReplay=True)]
    record = assistant(synthetic(e.uuid, e.text, "end_turn", None), e.uuid)
    record |= {
        "local_command_source": source,
        "local_command_run": {"command": e.command, "args": e.arguments},
    }
    return [record | {"local_command_outcome": {"kind": "failed"}} if e.failed else record]


def restarted(e: Restarted, session_id: str, now: str) -> list[Record]:
    """The conversation `session_id` is over; `e.session_id` is that of the new one."""
    reset = {
        "type": "conversation_reset",
        "new_conversation_id": e.session_id,
        "trigger": "clear",
        "user_message_uuid": e.prompt_uuid,
        "timestamp": now,
        "session_id": session_id,
        "uuid": e.uuid,
    }
    return [reset]
