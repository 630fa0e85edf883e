from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.agent.resume import load
from forge.foundation.history.transcript import Transcript, read_index
from forge.foundation.history.transcript_tail import recent_start

STAMP = "2026-11-15T12:00:00.000Z"
FILLER = {"type": "tag", "text": "x" * 1_000_000}


def entry(kind: str, uuid: str, parent: str | None, **facts: Any) -> dict[str, Any]:
    message = {"role": kind, "content": f"words of {uuid}"}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": STAMP, "message": message, **facts}


BOUNDARY = {
    "type": "system",
    "subtype": "compact_boundary",
    "uuid": "x",
    "parentUuid": None,
    "timestamp": STAMP,
}
COST = {"type": "cost-state", "totalCostUSD": 1.0, "modelUsage": {}}
SNAPSHOT = {"type": "file-history-snapshot", "messageId": "a", "snapshot": {"trackedFileBackups": {}}}
OLD = [entry("user", "a", None), entry("assistant", "b", "a")]
NEW = [entry("user", "sum", "x"), entry("assistant", "c", "sum")]


def write(path: Path, *records: dict[str, Any]) -> str:
    transcript = Transcript(str(path))
    for record in records:
        transcript.append(record)
    transcript.close()
    return str(path)


@pytest.mark.parametrize(
    ("records", "skipped"),
    [
        ([*OLD, FILLER, FILLER, FILLER, BOUNDARY, *NEW], 2),
        ([*OLD, FILLER, COST, FILLER, FILLER, FILLER, SNAPSHOT, BOUNDARY, *NEW], 3),
        ([*OLD, SNAPSHOT, FILLER, FILLER, FILLER, BOUNDARY, *NEW, COST], 2),
        ([*OLD, FILLER, FILLER, FILLER], 0),
        ([*OLD, BOUNDARY, *NEW], 0),
    ],
    ids=["compacted", "cost in front", "snapshot in front", "never compacted", "small"],
)
def test_only_what_a_compacted_conversation_needs_is_read(
    tmp_path: Path, records: list[dict[str, Any]], skipped: int
) -> None:
    path = write(tmp_path / "s.jsonl", *records)
    lines = Path(path).read_bytes().splitlines(keepends=True)
    start = recent_start(path)
    assert start == sum(len(line) for line in lines[:skipped])
    found, everything = read_index(path, start), read_index(path)
    assert found.links == everything.links[-len(found.links) :]
    assert (found.costs[-1:], found.file_history[-1:]) == (
        everything.costs[-1:],
        everything.file_history[-1:],
    )


def test_a_conversation_that_does_not_start_where_expected_is_read_as_a_whole(tmp_path: Path) -> None:
    branch = [entry("user", "d", "b"), entry("assistant", "e", "d")]
    path = write(tmp_path / "s.jsonl", *OLD, FILLER, FILLER, FILLER, BOUNDARY, *NEW, *branch)
    past = load(path)
    assert past is not None
    assert [m.text for m in past.messages] == [f"words of {uuid}" for uuid in "abde"]


def test_a_compacted_conversation_is_the_same_without_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("garbage nobody looks at\n")
    path = write(tmp_path / "s.jsonl", *OLD, COST, FILLER, FILLER, FILLER, BOUNDARY, *NEW)
    past = load(path)
    assert past is not None
    assert past.notes == []
    assert [m.text for m in past.messages] == ["words of sum", "words of c"]
    assert past.cost_state["totalCostUSD"] == 1.0
