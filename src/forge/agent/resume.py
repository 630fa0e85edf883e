"""Turns a transcript back into a conversation, repaired so that a model accepts it.

Only the entries of the conversation are decoded, one after the other; the file is never in memory as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from forge.agent.known_files import Known, KnownFiles
from forge.agent.lost_work import LostWork
from forge.agent.mending import NO_RESPONSE, Mending, repair
from forge.agent.rebuild import messages
from forge.core.message import Message
from forge.foundation.history.lineage import Link, lineage
from forge.foundation.history.sessions import find_title, newest
from forge.foundation.history.transcript import (
    Index,
    Record,
    decode_line,
    decode_record,
    mended,
    read_index,
    read_lines,
)
from forge.foundation.history.transcript_tail import recent_start

__all__ = [
    "NO_RESPONSE",
    "Past",
    "conversation",
    "find_session",
    "load",
    "messages",
    "newest_session",
    "repair",
]


_TOLD = ("user", "assistant", "attachment", "system")


class Past(msgspec.Struct, frozen=True):
    """An earlier session: its messages, where to go on, what it had cost, and what could not be read.

    `lost` is what the model is to hear of work that ended with the earlier process.
    """

    messages: list[Message]
    leaf: str | None
    cost_state: dict[str, Any]
    path: str
    line: list[Link] = []
    file_history: list[tuple[int, int]] = []
    notes: list[str] = []
    files: dict[str, Known] = {}
    planning: bool = False
    lost: list[str] = []

    @property
    def session_id(self) -> str:
        return os.path.basename(self.path).removesuffix(".jsonl")

    @property
    def records(self) -> Iterator[Record]:
        """The records of the conversation, read anew; their values stay as they are in the file."""
        for line in read_lines(self.path, ((link.at, link.size) for link in self.line)):
            record = decode_line(_decode_raw, line)
            if record is not None:
                yield record


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
    subtype: Any = None
    content: Any = None
    origin: Any = None
    apiBlockIndex: Any = None
    renderedBesideToolResult: Any = None


_decode_raw = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_entry = msgspec.json.Decoder(_Entry).decode


def load(path: str, until: str = "") -> Past | None:
    """Reads a transcript; None if it holds no conversation (or not the entry `until`)."""
    try:
        index, line, notes = conversation(path, until)
    except OSError:
        return None
    if not _has_words(line) and not (line and line[-1].kind == "system"):
        return None
    mending = Mending([*index.notes, *notes])
    files, work = KnownFiles(), LostWork()
    entries = work.watch(files.watch(_entries(path, line, mending)))
    history = repair(messages(entries, mending), mending)
    if until and history and history[-1].made_by == "<synthetic>":
        # Whoever names the end does so to say something else there.
        history.pop()
    return Past(
        history,
        line[-1].uuid,
        _cost_state(index),
        path,
        line,
        index.file_history,
        mending.notes(),
        files.found,
        files.planning,
        work.told(),
    )


def newest_session(folder: str) -> str | None:
    """Path of the transcript written last in a project folder that holds a conversation."""
    return newest(folder)


def find_session(projects: str, folder: str, name: str) -> str | None:
    """The transcript of a session id or title: first in this project's folder, then in all others."""
    name = name.strip()
    if name.endswith(".jsonl") and os.path.isfile(name):
        return os.path.abspath(name)
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


def conversation(path: str, until: str = "") -> tuple[Index, list[Link], list[str]]:
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


def _entries(path: str, line: list[Link], mending: Mending) -> Iterator[Record]:
    wanted = [link for link in line if link.kind in _TOLD]
    for text in read_lines(path, ((link.at, link.size) for link in wanted)):
        try:
            entry: _Entry | None = _decode_entry(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            entry = decode_line(_decode_entry, mended(text))
            mending.replaced += entry is not None
        if entry is not None:
            yield msgspec.structs.asdict(entry)


def _cost_state(index: Index) -> dict[str, Any]:
    for text in read_lines(index.path, reversed(index.costs)):
        record = decode_record(text)
        if record is not None:
            return record
    return {}
