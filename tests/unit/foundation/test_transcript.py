from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.transcript import Transcript, chain, read_records


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
from forge.foundation.transcript import Transcript
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


def test_results_beside_the_line_are_put_behind_their_calls() -> None:
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
    assert uuids(chain(records)) == ["a", "c1", "c2", "r1", "r2", "end"]
