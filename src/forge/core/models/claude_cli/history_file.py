"""The conversation so far for a CLI that starts: a transcript it resumes, and lines that are replayed to it.

A transcript must end with a reply without calls: after anything else the CLI adds words of its own. So the
running tool loop, if there is one, is replayed line by line instead.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from forge.core.message import Block, Text, ToolUse
from forge.core.models.asides import Turn
from forge.core.models.claude_cli.bridge import wire_tool
from forge.core.models.claude_cli.capabilities import CHECKED, dotted
from forge.foundation.encode import dumps
from forge.foundation.ids import new_uuid

_GO_ON = Text("Continue.")
_TIME = "2026-01-01T00:00:00.000Z"


class Past(msgspec.Struct, frozen=True):
    """`stored` goes into a file, `replayed` through stdin, `prompt` is what is asked now."""

    stored: list[Turn]
    replayed: list[Turn]
    prompt: list[Block]


def divide(turns: Sequence[Turn]) -> Past:
    """How a conversation is handed over."""
    asked: list[Block] = turns[-1].blocks if turns and turns[-1].role == "user" else [_GO_ON]
    past = list(turns[:-1]) if turns and turns[-1].role == "user" else list(turns)
    end = len(past)
    while end and not _rests(past[end - 1]):
        end -= 1
    return Past(past[:end], past[end:], asked)


def _rests(turn: Turn) -> bool:
    return turn.role == "assistant" and not any(isinstance(block, ToolUse) for block in turn.blocks)


def with_wire_names(turn: Turn) -> Turn:
    """The turn with the names under which the CLI knows Forge's tools."""
    if turn.role != "assistant":
        return turn
    blocks: list[Block] = [
        ToolUse(b.id, wire_tool(b.name), b.input) if isinstance(b, ToolUse) else b for b in turn.blocks
    ]
    return Turn(turn.role, blocks)


def reply_message(blocks: Sequence[Block], model: str, number: int) -> dict[str, Any]:
    """A reply of the past in the shape the CLI keeps it."""
    return {
        "id": f"msg_forge_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def write_history(folder: str, turns: Sequence[Turn], model: str, cwd: str) -> str:
    """Writes a transcript only the user may read and returns its path; whoever asked removes it."""
    session = new_uuid()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"{session}.jsonl")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        parent: str | None = None
        for number, turn in enumerate(turns):
            uuid = new_uuid()
            message = {"role": "user", "content": turn.blocks}
            if turn.role == "assistant":
                message = reply_message(turn.blocks, model, number)
            record = {
                "type": turn.role,
                "uuid": uuid,
                "parentUuid": parent,
                "sessionId": session,
                "timestamp": _TIME,
                "cwd": cwd,
                "version": dotted(CHECKED),
                "isSidechain": False,
                "userType": "external",
                "message": message,
            }
            file.write(dumps(record) + b"\n")
            parent = uuid
    return path
