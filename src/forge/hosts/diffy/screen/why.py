"""Why a hunk is there: what the agent said before the call that wrote its lines, from its transcript."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.history.sessions import project_folders
from forge.foundation.homes import claude_dir

_MOST_TEXT = 1500
_WRITTEN = ("new_string", "content", "new_source")


class _Found(msgspec.Struct, frozen=True):
    score: int
    asked: str
    said: str
    tool: str


def reason(env: Mapping[str, str], session: str, path: str, added: list[str]) -> str:
    """The excerpt of a transcript that explains added lines of the file at `path`; "" if none does."""
    transcript = _transcript(env, session)
    if not transcript:
        return ""
    with open(transcript, "rb") as file:
        return explain(file, path, added)


def explain(records: Iterable[bytes], path: str, added: list[str]) -> str:
    """The same, from the lines of a transcript."""
    best: _Found | None = None
    asked = said = ""
    for line in records:
        if b'"assistant"' not in line and b'"user"' not in line:
            continue
        for who, block in _blocks(line):
            if block.get("type") == "text":
                asked, said = (
                    (str(block.get("text")), "") if who == "user" else (asked, str(block.get("text")))
                )
            elif block.get("type") == "tool_use":
                score = _score(block.get("input"), path, added)
                if score and (best is None or score >= best.score):
                    best = _Found(score, asked, said, str(block.get("name")))
    if best is None:
        return ""
    parts = [("You asked", best.asked), (f"The agent said before {best.tool}", best.said)]
    return "\n\n".join(f"{title}:\n{_short(text)}" for title, text in parts if text.strip())


def _transcript(env: Mapping[str, str], session: str) -> str:
    if not session or "/" in session:
        return ""
    folders = project_folders(os.path.join(claude_dir(env), "projects"))
    paths = (os.path.join(folder, f"{session}.jsonl") for folder in folders)
    return next(filter(os.path.exists, paths), "")


def _blocks(line: bytes) -> list[tuple[str, dict[str, Any]]]:
    try:
        record = msgspec.json.decode(line)
    except NOT_JSON:
        return []
    message = record.get("message") if isinstance(record, dict) else None
    if not isinstance(message, dict) or record.get("isMeta"):
        return []
    who, content = str(message.get("role")), message.get("content")
    if isinstance(content, str):
        return [(who, {"type": "text", "text": content})]
    return [(who, block) for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _score(given: object, path: str, added: list[str]) -> int:
    """How much of the added lines a call has written: 0 if it is about another file."""
    if not isinstance(given, dict):
        return 0
    target = str(given.get("file_path") or given.get("notebook_path") or "")
    if not target:
        return int(path in str(given.get("command", "")))
    if target != path and not target.endswith(f"/{path}"):
        return 0
    edits = given.get("edits")
    sources = [given, *(edits if isinstance(edits, list) else [])]
    written = "\n".join(str(one.get(key, "")) for one in sources if isinstance(one, dict) for key in _WRITTEN)
    return 1 + 2 * sum(line.strip() in written for line in added if line.strip())


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} …"
