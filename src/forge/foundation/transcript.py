"""Append-only JSONL transcripts, compatible with the reference program in both directions.

Every record is one `write` of one line, so a killed process leaves at most a torn last line; readers skip
lines they cannot parse and writers never append to a torn one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from forge.foundation.encode import dumps

Record = dict[str, Any]

_CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system", "progress"})

_decode = msgspec.json.Decoder().decode


class Transcript:
    """One open transcript file; created with the first record."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1

    def append(self, record: Record) -> None:
        """Writes one record; raises OSError when the disk refuses it, with the file left loadable."""
        line = dumps(record) + b"\n"
        if self._fd < 0:
            self._open()
        start = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
            if written < len(line):
                raise OSError(28, "No space left on device", self.path)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, start)
            raise

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        self._fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = os.fstat(self._fd).st_size
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            os.write(self._fd, b"\n")


def read_records(path: str) -> Iterator[Record]:
    """Yields the records of a transcript in file order; lines that are not JSON objects are skipped."""
    with open(path, "rb") as lines:
        for line in lines:
            try:
                record = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            if isinstance(record, dict):
                yield record


def chain(records: list[Record], until: str = "") -> list[Record]:
    """The records of the current conversation, root first; `until` cuts after that uuid.

    The leaf is the last entry nobody names as its parent, sidechains and hidden entries only if nothing else
    is left. Results of parallel calls that hang beside the line are put back behind their call.
    """
    entries = [r for r in records if r.get("type") in _CHAIN_TYPES and isinstance(r.get("uuid"), str)]
    by_id = {r["uuid"]: r for r in entries}
    leaf = by_id.get(until) if until else _leaf(entries)
    line: list[Record] = []
    seen: set[str] = set()
    while leaf is not None and leaf["uuid"] not in seen:
        seen.add(leaf["uuid"])
        line.append(leaf)
        parent = leaf.get("parentUuid")
        leaf = by_id.get(parent) if isinstance(parent, str) else None
    line.reverse()
    return _with_siblings(line, entries, seen)


def _leaf(entries: list[Record]) -> Record | None:
    parents = {r.get("parentUuid") for r in entries}
    ends = [r for r in entries if r["uuid"] not in parents]
    plain = [r for r in ends if not r.get("isSidechain")]
    candidates = plain or ends or entries
    return candidates[-1] if candidates else None


def _with_siblings(line: list[Record], entries: list[Record], on_line: set[str]) -> list[Record]:
    answered = {i for r in line for i in result_ids(r)}
    open_calls = {i: r["uuid"] for r in line for i in call_ids(r) if i not in answered}
    if not open_calls:
        return line
    lost: dict[str, list[Record]] = {}
    for record in entries:
        if record["uuid"] in on_line or record.get("isSidechain"):
            continue
        for call in result_ids(record):
            if call in open_calls:
                lost.setdefault(open_calls[call], []).append(record)
    for uuid, results in lost.items():
        at = next(n for n, r in enumerate(line) if r["uuid"] == uuid) + 1
        while at < len(line) and line[at].get("type") == "assistant":
            at += 1
        line[at:at] = results
    return line


def call_ids(record: Record) -> list[str]:
    """Ids of the tool calls in an assistant record."""
    return _block_ids(record, "tool_use", "id")


def result_ids(record: Record) -> list[str]:
    """Ids of the calls a user record answers."""
    return _block_ids(record, "tool_result", "tool_use_id")


def _block_ids(record: Record, kind: str, key: str) -> list[str]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return []
    return [
        b[key]
        for b in content
        if isinstance(b, dict) and b.get("type") == kind and isinstance(b.get(key), str)
    ]
