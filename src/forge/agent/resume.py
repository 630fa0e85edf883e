"""Turns a transcript back into a conversation, repaired so that a model accepts it."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.texts.load import text
from forge.core.message import Block, Message, Role, Text, ToolResult, decode_blocks
from forge.foundation.transcript import Record, chain, read_records

NO_RESPONSE = "No response requested."


class Past(msgspec.Struct, frozen=True):
    """An earlier session: its messages, where to go on, and what it had cost."""

    messages: list[Message]
    leaf: str | None
    records: list[Record]
    cost_state: dict[str, Any]
    path: str

    @property
    def session_id(self) -> str:
        return os.path.basename(self.path).removesuffix(".jsonl")


def load(path: str, until: str = "") -> Past | None:
    """Reads a transcript; None if it holds no conversation (or not the entry `until`)."""
    try:
        records = list(read_records(path))
    except OSError:
        return None
    line = chain(records, until)
    if not any(r.get("type") in ("user", "assistant") and r.get("timestamp") for r in line):
        return None
    cost = next((r for r in reversed(records) if r.get("type") == "cost-state"), {})
    return Past(repair(messages(line)), line[-1]["uuid"], line, cost, path)


def messages(line: list[Record]) -> list[Message]:
    """The history of a chain of records; neighbours of one role become one message."""
    history: list[Message] = []
    for record in line:
        kind = record.get("type")
        if kind == "attachment":
            _add_reminder(history, record)
        elif kind in ("user", "assistant"):
            _add_message(history, record, "user" if kind == "user" else "assistant")
    return history


def repair(history: list[Message]) -> list[Message]:
    """Answers calls that never got a result and closes a trailing question, as the reference does."""
    fixed: list[Message] = []
    for n, message in enumerate(history):
        fixed.append(message)
        if message.role != "assistant" or not message.calls:
            continue
        after = history[n + 1] if n + 1 < len(history) else None
        given = {b.tool_use_id for b in after.blocks if isinstance(b, ToolResult)} if after else set()
        missing = [c for c in message.calls if c.id not in given]
        results: list[Block] = [ToolResult(c.id, text("interrupted"), True) for c in missing]
        if not results:
            continue
        if after is not None and after.role == "user":
            history[n + 1] = Message("user", [*results, *after.blocks])
        else:
            fixed.append(Message("user", results))
    if fixed and fixed[-1].role == "user":
        fixed.append(Message("assistant", [Text(NO_RESPONSE)], made_by="<synthetic>"))
    return fixed


def newest_session(folder: str) -> str | None:
    """Path of the transcript written last in a project folder."""
    try:
        names = [n for n in os.listdir(folder) if n.endswith(".jsonl")]
    except OSError:
        return None
    paths = [os.path.join(folder, n) for n in names]
    return max(paths, key=lambda p: os.stat(p).st_mtime_ns, default=None)


def find_session(projects: str, folder: str, name: str) -> str | None:
    """The transcript of a session id or title: first in this project's folder, then in all others."""
    here = os.path.join(folder, f"{name}.jsonl")
    if os.path.isfile(here):
        return here
    try:
        others = [os.path.join(projects, d, f"{name}.jsonl") for d in os.listdir(projects)]
    except OSError:
        return None
    found = next((p for p in others if os.path.isfile(p)), None)
    return found or _by_title(folder, name)


def _by_title(folder: str, title: str) -> str | None:
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".jsonl"))
    except OSError:
        return None
    for name in names:
        path = os.path.join(folder, name)
        titles = [r.get("customTitle") for r in read_records(path) if r.get("type") == "custom-title"]
        if titles and titles[-1] == title:
            return path
    return None


def _add_message(history: list[Message], record: Record, role: Role) -> None:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, str | list):
        return
    blocks = decode_blocks(content)
    identity = message.get("id") if isinstance(message.get("id"), str) else ""
    last = history[-1] if history else None
    if last is not None and last.role == role:
        history[-1] = Message(role, _merged(last.blocks, blocks), last.id, last.made_by)
    else:
        history.append(Message(role, blocks, identity or "", _maker(record, message)))


def _merged(before: list[Block], blocks: list[Block]) -> list[Block]:
    """Results come first in a message that answers calls."""
    results = [b for b in blocks if isinstance(b, ToolResult)]
    if not results or all(isinstance(b, ToolResult) for b in before):
        return [*before, *blocks]
    at = sum(1 for b in before if isinstance(b, ToolResult))
    rest = [b for b in blocks if not isinstance(b, ToolResult)]
    return [*before[:at], *results, *before[at:], *rest]


def _maker(record: Record, message: dict[str, Any]) -> str:
    made_by = record.get("madeBy")
    if isinstance(made_by, str):
        return made_by
    model = message.get("model")
    return f"anthropic/{model}" if isinstance(model, str) and model != "<synthetic>" else ""


def _add_reminder(history: list[Message], record: Record) -> None:
    """Reminders stand before the words of the prompt they were written after, but behind results."""
    rendered = record.get("rendered")
    if not isinstance(rendered, list) or not history or history[-1].role != "user":
        return
    texts = [r["content"] for r in rendered if isinstance(r, dict) and isinstance(r.get("content"), str)]
    last = history[-1]
    at = 0
    for n, block in enumerate(last.blocks):
        if isinstance(block, ToolResult) or (
            isinstance(block, Text) and block.text.startswith("<system-reminder>")
        ):
            at = n + 1
    new: list[Block] = [Text(t) for t in texts]
    history[-1] = Message("user", [*last.blocks[:at], *new, *last.blocks[at:]])
