"""Turns a transcript back into a conversation, repaired so that a model accepts it.

Only the entries of the conversation are decoded, one after the other; the file is never in memory as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forge.agent.known_files import Known, KnownFiles
from forge.agent.mending import NO_RESPONSE, Mending, repair
from forge.agent.record import TOKENS_LEFT
from forge.core.message import Aside, Block, Message, Role, Text, ToolResult
from forge.core.reminder import is_reminder, plain
from forge.foundation.history.lineage import Link, lineage
from forge.foundation.history.sessions import find_title, newest
from forge.foundation.history.transcript import Index, Record, decode_record, read_index, read_lines
from forge.foundation.history.transcript_tail import recent_start

__all__ = ["NO_RESPONSE", "Past", "find_session", "load", "messages", "newest_session", "repair"]

_AFTER_CALLS = ("PostToolUse", "PostToolUseFailure")
_COMMAND_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>")


class Past(msgspec.Struct, frozen=True):
    """An earlier session: its messages, where to go on, what it had cost, and what could not be read."""

    messages: list[Message]
    leaf: str | None
    cost_state: dict[str, Any]
    path: str
    line: list[Link] = []
    file_history: list[tuple[int, int]] = []
    notes: list[str] = []
    files: dict[str, Known] = {}

    @property
    def session_id(self) -> str:
        return os.path.basename(self.path).removesuffix(".jsonl")

    @property
    def records(self) -> Iterator[Record]:
        """The records of the conversation, read anew; their values stay as they are in the file."""
        for line in read_lines(self.path, ((link.at, link.size) for link in self.line)):
            try:
                yield _decode_raw(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue


class _Entry(msgspec.Struct, gc=False):
    """The fields of an entry that the history is made of; results in structured form are skipped."""

    type: Any = None
    uuid: Any = None
    message: Any = None
    rendered: Any = None
    renderedRole: Any = None
    attachment: Any = None
    madeBy: Any = None
    timestamp: Any = None
    isApiErrorMessage: Any = None
    isCompactSummary: Any = None


_decode_raw = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_entry = msgspec.json.Decoder(_Entry).decode


def load(path: str, until: str = "") -> Past | None:
    """Reads a transcript; None if it holds no conversation (or not the entry `until`)."""
    try:
        index, line, notes = _conversation(path, until)
    except OSError:
        return None
    if not _has_words(line) and not (line and line[-1].kind == "system"):
        return None
    mending = Mending([*index.notes, *notes])
    files = KnownFiles()
    history = repair(messages(files.watch(_entries(path, line)), mending), mending)
    return Past(
        history,
        line[-1].uuid,
        _cost_state(index),
        path,
        line,
        index.file_history,
        mending.notes(),
        files.found,
    )


def messages(line: Iterable[Record], mending: Mending | None = None) -> list[Message]:
    """The history of a chain of records; neighbours of one role become one message."""
    mending = mending or Mending([])
    history: list[Message] = []
    stopped = False
    for record in line:
        kind = record.get("type")
        if kind == "attachment":
            _add_reminder(history, record)
            stopped = stopped or _stopped(record)
            mending.settled = mending.settled or stopped
        elif kind in ("user", "assistant"):
            stopped = stopped and kind == "user" and "toolUseResult" in record
            mending.settled = kind == "assistant" or stopped or _expects_nothing(record)
            if not record.get("isApiErrorMessage"):
                _add_message(history, record, "user" if kind == "user" else "assistant", mending)
    return history


def newest_session(folder: str) -> str | None:
    """Path of the transcript written last in a project folder that holds a conversation."""
    return newest(folder)


def find_session(projects: str, folder: str, name: str) -> str | None:
    """The transcript of a session id or title: first in this project's folder, then in all others."""
    if os.path.basename(name) == name:
        here = os.path.join(folder, f"{name}.jsonl")
        if os.path.isfile(here):
            return here
        try:
            others = [os.path.join(projects, d, f"{name}.jsonl") for d in os.listdir(projects)]
        except OSError:
            return None
        found = next((p for p in others if os.path.isfile(p)), None)
        if found is not None:
            return found
    return find_title(folder, name)


def _conversation(path: str, until: str) -> tuple[Index, list[Link], list[str]]:
    """The line of the conversation; of a compacted one the file is read from there on, if all is well."""
    start = 0 if until else recent_start(path)
    if start:
        index = read_index(path, start)
        line, notes = lineage(index.links, index.kept)
        if line and line[0].kind == "system" and not notes and not index.notes:
            return index, line, notes
    index = read_index(path)
    line, notes = lineage(index.links, index.kept, until)
    if not until and not _has_words(line):
        spoken = [link for link in index.links if _has_words([link]) and not link.side]
        if spoken:
            line, more = lineage(index.links, index.kept, spoken[-1].uuid)
            notes = [*notes, *more, "the entries written last belong to no conversation: they are left out"]
    return index, line, notes


def _has_words(line: list[Link]) -> bool:
    return any(link.kind in ("user", "assistant") and link.stamped for link in line)


def _entries(path: str, line: list[Link]) -> Iterator[Record]:
    wanted = [link for link in line if link.kind in ("user", "assistant", "attachment")]
    for text in read_lines(path, ((link.at, link.size) for link in wanted)):
        try:
            entry = _decode_entry(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        yield msgspec.structs.asdict(entry)


def _cost_state(index: Index) -> dict[str, Any]:
    for text in read_lines(index.path, reversed(index.costs)):
        record = decode_record(text)
        if record is not None:
            return record
    return {}


def _stopped(record: Record) -> bool:
    """Whether a hook has ended the turn here."""
    attached = record.get("attachment")
    return isinstance(attached, dict) and attached.get("type") == "hook_stopped_continuation"


def _expects_nothing(record: Record) -> bool:
    """Whether nobody waits for an answer to an entry: a summary, or what a command of the program said."""
    if record.get("isCompactSummary") is True:
        return True
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, str) and content.startswith(_COMMAND_OUTPUT)


def _add_message(history: list[Message], record: Record, role: Role, mending: Mending) -> None:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, str | list):
        mending.dropped += 1
        return
    blocks = mending.blocks(content)
    if not blocks:
        return
    identity = message.get("id")
    last = history[-1] if history else None
    if last is not None and last.role == role:
        history[-1] = Message(role, _merged(last.blocks, blocks), last.id, last.made_by)
    else:
        named = identity if isinstance(identity, str) else ""
        history.append(Message(role, blocks, named, _maker(record, message)))


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
    if not isinstance(rendered, list):
        return
    texts = [r["content"] for r in rendered if isinstance(r, dict) and isinstance(r.get("content"), str)]
    aside = record.get("renderedRole") == "system"
    last = history[-1] if history and history[-1].role == "user" else None
    about = _result_of(record, last) if aside else ""
    new: list[Block] = [Aside(plain(t), about) if aside else Text(t) for t in texts if t]
    if not new:
        return
    if last is None:
        history.append(Message("user", new))
        return
    at = 0
    for n, block in enumerate(last.blocks):
        if isinstance(block, ToolResult) or is_reminder(block):
            at = n + 1
    history[-1] = Message("user", [*last.blocks[:at], *new, *last.blocks[at:]])


def _result_of(record: Record, last: Message | None) -> str:
    """The call whose result a text is about: the one a hook ran after, or the last one before a count."""
    facts = record.get("attachment")
    if not isinstance(facts, dict):
        return ""
    if facts.get("type") == TOKENS_LEFT:
        results = [b.tool_use_id for b in last.blocks if isinstance(b, ToolResult)] if last else []
        return results[-1] if results else ""
    call = facts.get("toolUseID") if facts.get("hookEvent") in _AFTER_CALLS else None
    return call if isinstance(call, str) else ""
