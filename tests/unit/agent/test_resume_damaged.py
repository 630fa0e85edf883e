"""Transcripts damaged by hand: what can be read is loaded, and what was done about the rest is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.agent.resume import load

Records = list[dict[str, Any]]


def whole() -> Records:
    stamp = "2026-11-15T12:00:00.000Z"
    said = [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four")]
    return [
        {
            "type": kind,
            "uuid": f"e{n}",
            "parentUuid": f"e{n - 1}" if n else None,
            "timestamp": stamp,
            "message": {"role": kind, "content": [{"type": "text", "text": words}]},
        }
        for n, (kind, words) in enumerate(said)
    ]


def put(place: int, key: str, value: Any) -> Callable[[Records], None]:
    return lambda records: records[place].__setitem__(key, value)


def drop(place: int, key: str) -> Callable[[Records], None]:
    return lambda records: records[place].__delitem__(key)


BRIDGED = "the parent of entry e{} is missing: it follows the one before it"


@pytest.mark.parametrize(
    ("damage", "note"),
    [
        (put(2, "parentUuid", "e2"), BRIDGED.format(2)),
        (put(2, "parentUuid", 5), BRIDGED.format(2)),
        (put(3, "parentUuid", None), BRIDGED.format(3)),
        (drop(3, "parentUuid"), BRIDGED.format(3)),
        (put(1, "uuid", 5), BRIDGED.format(2)),
        (drop(1, "uuid"), BRIDGED.format(2)),
    ],
    ids=["its own parent", "a number", "no parent of a reply", "none at all", "name is a number", "no name"],
)
def test_an_entry_that_hangs_nowhere_follows_the_one_before_it(
    tmp_path: Path, damage: Callable[[Records], None], note: str
) -> None:
    records = whole()
    damage(records)
    assert loaded(tmp_path, "".join(json.dumps(r) + "\n" for r in records).encode()) == (
        ["one", "two", "three", "four"],
        [note],
    )


REPLACED = ["replaced damaged characters in 1 entry"]


@pytest.mark.parametrize(
    ("old", "new", "word", "notes"),
    [
        (b"two", b"t\xff\xfeo", "t\ufffd\ufffdo", REPLACED),
        (b"two", b"t\\ud800o", "t\ufffdo", REPLACED),
        (b"two", b"t\\uDC00\\ud83d\\ude00o", "t\ufffd\U0001f600o", REPLACED),
        (b"two", b"\\\\ud800", "\\ud800", []),
        (b'{"type": "user", "uuid": "e0"', b'\xef\xbb\xbf{"type": "user", "uuid": "e0"', "two", REPLACED),
        (b"]}}\n", b"]}},\n", "two", ["replaced damaged characters in 4 entries"]),
        (b"\n", b"\r\n", "two", []),
        (b"\n", b"\n\n", "two", []),
    ],
)
def test_characters_that_are_none_cost_nothing_else(
    tmp_path: Path, old: bytes, new: bytes, word: str, notes: list[str]
) -> None:
    lines = "".join(json.dumps(r) + "\n" for r in whole()).encode()
    assert old in lines
    assert loaded(tmp_path, lines.replace(old, new)) == (["one", word, "three", "four"], notes)


def compacted(metadata: dict[str, Any]) -> Records:
    records = whole()
    boundary: dict[str, Any] = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
    }
    boundary |= {"timestamp": records[0]["timestamp"], "compactMetadata": metadata}
    summary = {**records[0], "uuid": "s", "parentUuid": "b", "isCompactSummary": True}
    summary["message"] = {"role": "user", "content": "summary"}
    after = {**records[2], "uuid": "n", "parentUuid": "s"}
    return [*records, boundary, summary, {**after, "message": {"role": "user", "content": "next"}}]


LISTED = {"anchorUuid": "s", "uuids": ["e3"]}
SEGMENT = {"headUuid": "e3", "anchorUuid": "s", "tailUuid": "e3"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"preservedSegment": SEGMENT},
        {"preservedMessages": LISTED},
        {"preservedSegment": {**SEGMENT, "headUuid": "gone"}, "preservedMessages": LISTED},
        {"preservedSegment": 7, "preservedMessages": LISTED},
    ],
)
def test_what_a_compaction_kept_is_found_by_either_record_of_it(
    tmp_path: Path, metadata: dict[str, Any]
) -> None:
    lines = "".join(json.dumps(r) + "\n" for r in compacted(metadata)).encode()
    assert loaded(tmp_path, lines) == (["summary", "four", "next", "No response requested."], [])


def test_what_a_compaction_kept_is_there_without_the_summary(tmp_path: Path) -> None:
    records = [r for r in compacted({"preservedSegment": SEGMENT}) if r["uuid"] != "s"]
    said, notes = loaded(tmp_path, "".join(json.dumps(r) + "\n" for r in records).encode())
    assert said[1:] == ["four", "next", "No response requested."]
    assert notes == ["the summary before entry e3 is missing: the conversation starts there"]


def loaded(folder: Path, lines: bytes) -> tuple[list[str], list[str]]:
    path = folder / "s.jsonl"
    path.write_bytes(lines)
    past = load(str(path))
    assert past is not None
    return [message.text for message in past.messages], past.notes
