"""The outcome of a run as plain JSON, for tests and for people: what `forge debug map-claude-cli` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from forge.core.message import Usage
from forge.core.models.claude_cli.changes import Change, Grown, Replaced, Withdrawn
from forge.core.models.claude_cli.lines import Splitter
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import (
    Child,
    Failure,
    Outcome,
    Part,
    ReasoningPart,
    StepFinish,
    StepStart,
    TextPart,
    ToolPart,
)


def map_run(chunks: Iterable[bytes], exit_code: int | None, stderr: str = "") -> dict[str, Any]:
    """The recorded output of a run, mapped."""
    return report(*read_run(chunks, exit_code, stderr))


def read_run(
    chunks: Iterable[bytes], exit_code: int | None, stderr: str = ""
) -> tuple[list[Change], Outcome]:
    """What happened in a recorded run, and how it ended."""
    mapper, splitter = Mapper(), Splitter()
    changes: list[Change] = []
    for chunk in chunks:
        for line in splitter.feed(chunk):
            changes += mapper.feed(line)
    for line in splitter.rest():
        changes += mapper.feed(line)
    outcome = mapper.end(exit_code, stderr=stderr)
    return changes + mapper.rest(), outcome


def report(changes: list[Change], outcome: Outcome) -> dict[str, Any]:
    """The parts, the changes of text on the way to them, and how the run ended."""
    return {
        "parts": [_part(part) for part in outcome.parts],
        "deltas": [row for change in changes for row in _delta(change)],
        "children": {name: _child(child) for name, child in outcome.children.items()},
        "retracted": [msgspec.to_builtins(entry) for entry in outcome.retracted],
        "final": {
            "finish": outcome.finish,
            "error": _error(outcome.error),
            "session_id": outcome.session_id,
            "model": outcome.model,
            "cost_usd": outcome.cost,
            "tokens": _tokens(outcome.usage),
            "results": outcome.results,
            "unparsed_lines": outcome.unread_lines,
        },
    }


def _error(failure: Failure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    told = {"kind": failure.kind, "status": failure.status, "type": failure.type}
    return told | {"message": failure.message}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, StepStart):
        return {"type": "step-start", "step": part.step}
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text} | ({"incomplete": True} if part.incomplete else {})
    if isinstance(part, ReasoningPart):
        hidden = {} if part.redacted is None else {"redacted": part.redacted}
        return {"type": "reasoning", "text": part.text, "signature": part.signature or None} | hidden
    if isinstance(part, StepFinish):
        tokens = {} if part.usage is None else {"tokens": _tokens(part.usage)}
        told = {"step": part.step, "reason": part.reason, "cost_usd": part.cost}
        return {"type": "step-finish"} | told | tokens
    told = {"call_id": part.call_id, "name": part.name, "input": part.input}
    return {"type": "tool"} | told | {"status": part.status, "output": part.output}


def _delta(change: Change) -> list[dict[str, Any]]:
    """Only what happens to texts of the main thread."""
    if not isinstance(change, Grown | Replaced | Withdrawn) or change.child:
        return []
    if not isinstance(change, Withdrawn):
        op = "append" if isinstance(change, Grown) else "reset"
        return [{"part": change.at, "op": op, "text": change.text}]
    if isinstance(change.part, ToolPart):
        return []
    return [{"part": change.at, "op": "retract", "text": change.part.text}]


def _child(child: Child) -> dict[str, Any]:
    told = {"agent_id": child.agent_id, "agent_type": child.agent_type, "prompt": child.prompt}
    return told | {"parts": [_part(part) for part in child.parts]}


def _tokens(usage: Usage) -> dict[str, int]:
    kept = ("input", "output", "cache_read", "cache_write")
    return {name: getattr(usage, name) for name in kept}
