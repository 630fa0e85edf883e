from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.foundation.history.lineage import Kept, Link, lineage
from forge.foundation.history.transcript import (
    Transcript,
    chain,
    decode_record,
    read_index,
    read_lines,
    read_records,
)


def entry(
    uuid: str, parent: str | None, kind: str = "user", content: Any = "x", **facts: Any
) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": message, **facts}


def uuids(records: list[dict[str, Any]]) -> list[str]:
    return [r["uuid"] for r in records]


def test_records_are_read_back_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "projects" / "p" / "s.jsonl")
    transcript = Transcript(path)
    transcript.append({"type": "user", "n": 1})
    transcript.append({"type": "user", "n": "ü"})
    transcript.close()
    assert list(read_records(path)) == [{"type": "user", "n": 1}, {"type": "user", "n": "ü"}]
    assert oct(os.stat(path).st_mode & 0o777) == "0o600"


def test_nothing_is_created_before_the_first_record(tmp_path: Path) -> None:
    Transcript(str(tmp_path / "a" / "s.jsonl")).close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "torn",
    [b'{"type":"user","n":', b"\xff\xfe\x00", b"[1,2]\n", b'"text"\n', b"\n\n", b"\x00" * 64],
)
def test_a_torn_or_foreign_line_costs_only_itself(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"n":1}\n' + torn)
    transcript = Transcript(str(path))
    transcript.append({"n": 2})
    transcript.close()
    assert list(read_records(str(path))) == [{"n": 1}, {"n": 2}]


FULL_DISK = """
import resource, sys
from forge.foundation.history.transcript import Transcript
transcript = Transcript(sys.argv[1])
transcript.append({"n": 1})
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
try:
    transcript.append({"n": "x" * 100})
except OSError as error:
    print(error.strerror)
"""


def test_a_record_the_disk_refuses_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True, timeout=20)
    assert done.stdout in ("No space left on device\n", "File too large\n"), done.stderr
    assert list(read_records(path)) == [{"n": 1}]


def test_the_chain_follows_the_branch_written_last() -> None:
    records = [entry("a", None), entry("b", "a", "assistant"), entry("c", "b"), entry("d", "b")]
    assert uuids(chain(records)) == ["a", "b", "d"]


def test_side_records_and_sidechains_do_not_count() -> None:
    records = [
        {"type": "last-prompt", "leafUuid": "z"},
        entry("a", None),
        entry("b", "a", "assistant"),
        entry("s", None, isSidechain=True),
    ]
    assert uuids(chain(records)) == ["a", "b"]


def test_a_chain_can_be_cut_at_an_entry() -> None:
    records = [entry("a", None), entry("b", "a", "assistant"), entry("c", "b")]
    assert uuids(chain(records, "b")) == ["a", "b"]
    assert chain(records, "unknown") == []


def test_a_loop_of_parents_ends() -> None:
    assert uuids(chain([entry("a", "b"), entry("b", "a")])) == ["a", "b"]


@pytest.mark.parametrize("side", [False, True])
def test_results_beside_the_line_are_put_behind_their_calls(side: bool) -> None:
    def use(identity: str) -> list[dict[str, Any]]:
        return [{"type": "tool_use", "id": identity, "name": "T", "input": {}}]

    def result(identity: str) -> list[dict[str, Any]]:
        return [{"type": "tool_result", "tool_use_id": identity, "content": "ok"}]

    records = [
        entry("a", None),
        entry("c1", "a", "assistant", use("t1")),
        entry("c2", "c1", "assistant", use("t2")),
        entry("r1", "c1", "user", result("t1")),
        entry("r2", "c2", "user", result("t2")),
        entry("end", "r2", "assistant"),
    ]
    records = [{**record, "isSidechain": side} for record in records]
    assert uuids(chain(records)) == ["a", "c1", "c2", "r1", "r2", "end"]


def test_an_index_finds_what_a_chain_finds_and_says_what_it_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    records = [entry("a", None), entry("b", "a", "assistant"), {"type": "hologram"}, {"type": "cost-state"}]
    transcript = Transcript(str(path))
    for record in records:
        transcript.append(record)
    transcript.close()
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"c","parentUuid":"b","message":{"content":7}}\n\n{"type":"us')
    index = read_index(str(path))
    line, notes = lineage(index.links, index.kept)
    assert [link.uuid for link in line] == ["a", "b", "c"]
    assert notes == []
    assert index.notes == ["skipped 1 unreadable line: 7", "ignored records of unknown type: hologram"]
    (cost,) = read_lines(str(path), index.costs)
    assert decode_record(cost) == {"type": "cost-state"}


WRONG = [None, 7, "text", [], {}, [1, "x", None], {"content": 5}, True]


@pytest.mark.parametrize("key", ["type", "uuid", "parentUuid", "isSidechain", "message", "compactMetadata"])
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_wrong_types_never_stop_the_reader(tmp_path: Path, key: str, value: Any) -> None:
    path = tmp_path / "s.jsonl"
    transcript = Transcript(str(path))
    for record in [entry("a", None), {**entry("b", "a", "assistant"), key: value}, entry("c", "b")]:
        transcript.append(record)
    transcript.close()
    index = read_index(str(path))
    line, _ = lineage(index.links, index.kept)
    assert line[-1].uuid == "c"
    assert uuids(chain(list(read_records(str(path)))))[-1] == "c"


def test_an_entry_whose_parent_is_lost_follows_the_one_written_before_it() -> None:
    links = [Link("a", None, "user", 0), Link("s", None, "user", 1, side=True), Link("c", "lost", "user", 2)]
    line, notes = lineage(links, [])
    assert [link.uuid for link in line] == ["a", "c"]
    assert notes == ["the parent of entry c is missing: it follows the one before it"]


def test_entries_written_twice_count_once() -> None:
    line, notes = lineage([Link("a", None, "user", 0), Link("a", None, "user", 1)], [])
    assert [link.at for link in line] == [1]
    assert notes == ["1 entry written twice: the last one counts"]


def test_a_conversation_starts_at_its_last_compaction() -> None:
    records = [
        entry("a", None),
        entry("b", "a", "assistant"),
        {"type": "system", "uuid": "x", "parentUuid": None, "logicalParentUuid": "b"},
        entry("sum", "x", isCompactSummary=True),
        entry("c", "sum", "assistant"),
    ]
    assert uuids(chain(records)) == ["x", "sum", "c"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [("b", ["x", "sum", "b", "c", "d"]), ("gone", ["x", "sum", "d"])],
    ids=["whole", "damaged"],
)
def test_what_a_compaction_preserved_stands_behind_its_summary(head: str, expected: list[str]) -> None:
    segment = {"headUuid": head, "anchorUuid": "sum", "tailUuid": "c"}
    records = [
        entry("a", None),
        entry("b", "a", "assistant"),
        entry("c", "b"),
        {"type": "system", "uuid": "x", "parentUuid": None, "compactMetadata": {"preservedSegment": segment}},
        entry("sum", "x"),
        entry("d", "sum", "assistant"),
    ]
    assert uuids(chain(records)) == expected


def test_a_reply_of_another_branch_stays_there_even_if_its_message_has_the_same_name() -> None:
    def said(uuid: str, parent: str) -> dict[str, Any]:
        return {**entry(uuid, parent, "assistant"), "message": {"id": "always", "content": []}}

    records = [entry("a", None), entry("left", "a"), said("x", "left"), entry("b", "a"), said("y", "b")]
    assert uuids(chain(records)) == ["a", "b", "y"]


def test_blocks_of_a_message_that_hang_beside_the_line_are_put_back() -> None:
    def block(uuid: str, parent: str, call: str) -> dict[str, Any]:
        content = [{"type": "tool_use", "id": call, "name": "T", "input": {}}]
        record = entry(uuid, parent, "assistant", content)
        return {**record, "message": {**record["message"], "id": "msg_1"}}

    def result(uuid: str, parent: str, call: str) -> dict[str, Any]:
        return entry(uuid, parent, "user", [{"type": "tool_result", "tool_use_id": call, "content": "ok"}])

    records = [
        entry("a", None),
        block("c1", "a", "t1"),
        block("c2", "c1", "t2"),
        result("r2", "c2", "t2"),
        result("r1", "c1", "t1"),
        entry("end", "r1", "assistant"),
    ]
    assert uuids(chain(records)) == ["a", "c1", "c2", "r2", "r1", "end"]
    assert uuids(chain(records[:-1]))[:3] == ["a", "c1", "c2"]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(-1, 9), st.booleans()), max_size=12))
def test_any_tangle_of_parents_ends(tangle: list[tuple[int, int, bool]]) -> None:
    links = [
        Link(str(uuid), None if parent < 0 else str(parent), "user", n, side=side)
        for n, (uuid, parent, side) in enumerate(tangle)
    ]
    line, _ = lineage(links, [Kept("0", "1", "2"), Kept("3", "3", "3")])
    assert len({link.uuid for link in line}) == len(line)
    assert bool(line) == bool(links)
