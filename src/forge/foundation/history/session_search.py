"""Finds words in recorded conversations, also in what compaction dropped and in what sub-agents said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from forge.foundation.history.transcript import Record, decode_record

_AROUND = 60


class Hit(msgspec.Struct, frozen=True):
    """One place where the words were found."""

    uuid: str
    time: str
    who: str
    excerpt: str


def search(path: str, words: str) -> Iterator[Hit]:
    """The entries of a session, and of its sub-agents, that hold the words; capitals do not matter."""
    wanted = words.lower()
    for file in [path, *_subagents(path)]:
        try:
            with open(file, "rb") as lines:
                yield from _search_lines(lines, wanted)
        except OSError:
            continue


def entry_text(record: Record) -> list[tuple[str, str]]:
    """Who said what in an entry: pairs of speaker and text."""
    kind = record.get("type")
    if kind not in ("user", "assistant"):
        return []
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [(str(kind), content)]
    if not isinstance(content, list):
        return []
    return [pair for block in content if isinstance(block, dict) for pair in _block_text(str(kind), block)]


def _search_lines(lines: Any, wanted: str) -> Iterator[Hit]:
    # Most lines do not hold the words: they are told apart without decoding them. In JSON a quote or a line
    # break is written differently, so only the longest plain part of the words is looked for.
    plain = max(wanted.replace("\\", '"').replace("\n", '"').replace("\t", '"').split('"'), key=len)
    quick = plain.encode() if plain.isascii() else b""
    for line in lines:
        if quick not in line.lower():
            continue
        record = decode_record(line)
        if record is not None:
            yield from _hits(record, wanted)


def _hits(record: Record, wanted: str) -> Iterator[Hit]:
    for who, text in entry_text(record):
        at = text.lower().find(wanted)
        if at >= 0:
            speaker = f"agent {record.get('agentId')}" if record.get("isSidechain") is True else who
            yield Hit(
                str(record.get("uuid") or ""),
                str(record.get("timestamp") or ""),
                speaker,
                _excerpt(text, at, len(wanted)),
            )


def _excerpt(text: str, at: int, length: int) -> str:
    start, end = max(0, at - _AROUND), at + length + _AROUND
    flat = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{flat}{'…' if end < len(text) else ''}"


def _block_text(who: str, block: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        yield who, block["text"]
    elif kind == "thinking" and isinstance(block.get("thinking"), str):
        yield "thinking", block["thinking"]
    elif kind == "tool_use":
        name = str(block.get("name") or "tool")
        yield name, msgspec.json.encode(block.get("input")).decode()
    elif kind == "tool_result":
        yield "result", result_text(block.get("content"))


def result_text(content: Any) -> str:
    """The text of a tool result."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str))


def _subagents(path: str) -> list[str]:
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".jsonl"))
    except OSError:
        return []
