"""Append-only JSONL transcripts, compatible with the reference program in both directions.

Every record is one `write` of one line, so a killed process leaves at most a torn last line; readers skip
lines they cannot parse and writers never append to a torn one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from forge.foundation.encode import dumps
from forge.foundation.history.lineage import Kept, Link, lineage

Record = dict[str, Any]

_CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system", "progress"})
_WORDS = ("user", "assistant")
_SIDE_TYPES = frozenset(
    {
        "queue-operation",
        "last-prompt",
        "tools-used",
        "cost-state",
        "mode",
        "atis-latch",
        "api-request",
        "api-request-shape",
        "api-request-blob",
        "file-history-snapshot",
        "file-history-delta",
        "custom-title",
        "agent-name",
        "tag",
        "ai-title",
        "summary",
        "request-usage",
        "worktree-state",
        "agent-setting",
    }
)

_decode = msgspec.json.Decoder().decode

# Escaped halves of characters; pairs and other escapes are found first and stay.
_SURROGATE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
T = TypeVar("T")
_START = 64


class Transcript:
    """One open transcript file; created with the first record. `copy` is given every record, too."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.copy: Callable[[str, Record], None] | None = None
        self._fd = -1

    def append(self, record: Record) -> None:
        """Writes one record; raises OSError when the disk refuses it, with the file left loadable."""
        if self.copy is not None:
            self.copy(self.path, record)
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
            record = decode_record(line)
            if record is not None:
                yield record


def chain(records: list[Record], until: str = "") -> list[Record]:
    """The records of the current conversation, root first; `until` cuts after that uuid.

    The leaf is the last entry nobody names as its parent, sidechains only if nothing else is left. Results of
    parallel calls that hang beside the line are put back behind their call.
    """
    links = [_link(n, r) for n, r in enumerate(records) if isinstance(r.get("uuid"), str)]
    links = [link for link in links if link.kind not in _SIDE_TYPES]
    kept = [k for r in records for k in _kept(r.get("compactMetadata"))]
    line, _ = lineage(links, kept, until)
    return [records[link.at] for link in line]


class Index(msgspec.Struct, frozen=True):
    """Where the entries of a transcript are, found in one pass without keeping their content."""

    path: str
    links: list[Link]
    kept: list[Kept]
    costs: list[tuple[int, int]]
    file_history: list[tuple[int, int]]
    notes: list[str]


def read_index(path: str, start: int = 0) -> Index:
    """Looks through a transcript once, from a line on; raises OSError when it cannot be read."""
    index = Index(path, [], [], [], [], [])
    broken: list[int] = []
    unknown: set[str] = set()
    at = start
    with open(path, "rb") as lines:
        lines.seek(start)
        for number, line in enumerate(lines, 1):
            head = _head(line) or _head(mended(line))
            if head is None:
                if line.strip():
                    broken.append(number)
            else:
                _add(index, head, (at, len(line)), unknown)
            at += len(line)
    if broken:
        shown = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        index.notes.append(f"skipped {len(broken)} unreadable line{'s'[: len(broken) > 1]}: {shown}")
    if unknown:
        index.notes.append(f"ignored records of unknown type: {', '.join(sorted(unknown)[:5])}")
    return index


def read_lines(path: str, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """The lines at these places of a transcript."""
    with open(path, "rb", buffering=0) as file:
        descriptor = file.fileno()
        for at, size in spans:
            yield os.pread(descriptor, size, at)


def decode_line(decode: Callable[[bytes], T], line: bytes) -> T | None:
    """What one line says, also if some of its characters are none; None when it cannot be read."""
    for text in (line, mended(line)):
        try:
            return decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
    return None


def mended(line: bytes) -> bytes:
    """A line whose characters are all valid: what is none becomes the sign for that."""
    if not line[:_START].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return line
    text = line.decode("utf-8", "replace").removeprefix("\ufeff").rstrip().removesuffix(",")
    return _SURROGATE.sub(lambda found: found[1] or "\\ufffd", text).encode()


def decode_record(line: bytes) -> Record | None:
    """One line as a record; None when it is none."""
    record = decode_line(_decode, line)
    return record if isinstance(record, dict) else None


class _Block(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    tool_use_id: Any = None


class _Message(msgspec.Struct, gc=False):
    id: Any = None
    content: str | list[_Block] = ""


class _Head(msgspec.Struct, gc=False):
    """The fields that decide about an entry's place; everything else of its line is skipped."""

    type: Any = None
    uuid: Any = None
    parentUuid: Any = None
    isSidechain: Any = None
    timestamp: Any = None
    compactMetadata: Any = None
    message: _Message | None = None


class _DamagedHead(msgspec.Struct, gc=False):
    """The same for an entry whose message has a wrong shape."""

    type: Any = None
    uuid: Any = None
    parentUuid: Any = None
    isSidechain: Any = None
    timestamp: Any = None
    compactMetadata: Any = None
    message: msgspec.Raw = msgspec.Raw(b"null")


_decode_head = msgspec.json.Decoder(_Head).decode
_decode_damaged = msgspec.json.Decoder(_DamagedHead).decode


def _head(line: bytes) -> _Head | _DamagedHead | None:
    try:
        return _decode_head(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _decode_damaged(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _add(index: Index, head: _Head | _DamagedHead, span: tuple[int, int], unknown: set[str]) -> None:
    kind = head.type if isinstance(head.type, str) else ""
    if kind == "cost-state":
        index.costs.append(span)
    elif kind in ("file-history-snapshot", "file-history-delta"):
        index.file_history.append(span)
    elif (isinstance(head.uuid, str) and kind not in _SIDE_TYPES) or kind in _WORDS:
        index.links.append(_link_of(head, kind, span))
        index.kept.extend(_kept(head.compactMetadata))
    if kind not in _CHAIN_TYPES and kind not in _SIDE_TYPES:
        unknown.add(kind or "(none)")


def _link_of(head: _Head | _DamagedHead, kind: str, span: tuple[int, int]) -> Link:
    message = head.message if isinstance(head.message, _Message) else _Message()
    blocks = message.content
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    if isinstance(blocks, list):
        calls = tuple(b.id for b in blocks if b.type == "tool_use" and isinstance(b.id, str))
        results = tuple(
            b.tool_use_id for b in blocks if b.type == "tool_result" and isinstance(b.tool_use_id, str)
        )
    parent = head.parentUuid
    return Link(
        # Words without a name are found by their place.
        head.uuid if isinstance(head.uuid, str) else f"(unnamed {span[0]})",
        parent if parent is None or isinstance(parent, str) else str(parent),
        kind,
        *span,
        side=head.isSidechain is True,
        stamped=isinstance(head.timestamp, str),
        message=message.id if isinstance(message.id, str) else "",
        calls=calls,
        results=results,
    )


def _link(at: int, record: Record) -> Link:
    kind, parent = record.get("type"), record.get("parentUuid")
    message = record.get("message")
    identity = message.get("id") if isinstance(message, dict) else None
    return Link(
        record["uuid"],
        parent if isinstance(parent, str) else None,
        kind if isinstance(kind, str) else "",
        at,
        side=record.get("isSidechain") is True,
        stamped=isinstance(record.get("timestamp"), str),
        message=identity if isinstance(identity, str) else "",
        calls=tuple(call_ids(record)),
        results=tuple(result_ids(record)),
    )


def _kept(metadata: Any) -> list[Kept]:
    """What a compaction has left standing; it is said twice, as a stretch and as a list."""
    facts = metadata if isinstance(metadata, dict) else {}
    listed, segment = facts.get("preservedMessages"), facts.get("preservedSegment")
    found: list[list[Any]] = []
    if isinstance(listed, dict) and isinstance(uuids := listed.get("uuids"), list) and uuids:
        found.append([uuids[0], listed.get("anchorUuid"), uuids[-1]])
    if isinstance(segment, dict):
        found.append([segment.get(key) for key in ("headUuid", "anchorUuid", "tailUuid")])
    return [Kept(*map(str, ends)) for ends in found if all(isinstance(end, str) for end in ends)]


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
