from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from forge.core.review.exchange import listing_json, read_review, review_json
from forge.core.review.export import export
from forge.core.review.model import Decision, FileRemark, Remark, Review
from forge.foundation.errors import UsageError
from unit.core.review.reviewing import file, listing, repository


def test_the_listing_has_exactly_the_agreed_keys(tmp_path: Path) -> None:
    old = {b"a": file(b"1\r\n\xff\n3")}
    repo = repository(tmp_path, old, {b"a": file(b"1\r\n2\n3", 0o755), b"\xfe\n": file(b"")})
    found = listing(repo)
    value = json.loads(listing_json(found))
    mode, text = found.files[0].hunks
    (whole,) = found.files[1].hunks
    numbers = {"old_start": 0, "old_count": 0, "new_start": 0, "new_count": 0}
    assert value == {
        "version": 1,
        "snapshot": found.snapshot,
        "files": [
            {
                "path": "a",
                "old_path": "a",
                "status": "M",
                "old_mode": "100644",
                "new_mode": "100755",
                "hunks": [
                    {"id": mode.id, "kind": "mode", **numbers, "lines": []},
                    {
                        "id": text.id,
                        "kind": "text",
                        "old_start": 1,
                        "old_count": 3,
                        "new_start": 1,
                        "new_count": 3,
                        "lines": [
                            {"t": " ", "text": "1\r"},
                            {"t": "-", "text": "\udcff"},
                            {"t": "+", "text": "2"},
                            {"t": " ", "text": "3", "no_eol": True},
                        ],
                    },
                ],
            },
            {
                "path": os.fsdecode(b"\xfe\n"),
                "old_path": os.fsdecode(b"\xfe\n"),
                "status": "A",
                "old_mode": "000000",
                "new_mode": "100644",
                "hunks": [{"id": whole.id, "kind": "file", **numbers, "lines": []}],
            },
        ],
    }


def test_decisions_make_the_round_trip() -> None:
    decision = Decision("u", "reject", "c\udcff", (1, 2), None, True, (Remark("r", 0, 1),), "rule")
    review = Review("s", "reject", (decision,), "all", (FileRemark("p", "f"),))
    assert read_review(review_json(review)) == review


def test_only_what_is_needed_must_be_given() -> None:
    row = b'{"hunk":"u","verdict":"reject","comment":null,"lines":null,"edit":null}'
    data = b'{"version":1,"snapshot":"s","decisions":[' + row + b'],"unknown":1}'
    assert read_review(data) == Review("s", "accept", (Decision("u", "reject"),))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"version":2}',
        b'{"decisions":{}}',
        b'{"decisions":[{"verdict":"reject"}]}',
        b'{"decisions":[{"hunk":"u","lines":["x"]}]}',
        b'{"decisions":[{"hunk":1}]}',
        b"[" * 100_000,
    ],
)
def test_decisions_that_make_no_sense_are_a_mistake(data: bytes) -> None:
    with pytest.raises(UsageError, match="the decisions"):
        read_review(data)


def test_a_review_can_be_exported(tmp_path: Path) -> None:
    repo = repository(tmp_path, {b"a": file(b"1\n")}, {b"a": file(b"```\n", 0o755)})
    found = listing(repo)
    mode, text = found.files[0].hunks
    decisions = (Decision(text.id, "reject", "no\x1b"), Decision(mode.id, "accept", by="a rule"))
    review = Review(found.snapshot, "pending", decisions, "all\n", (FileRemark("a", "the file"),))
    assert export(found, review, "md").decode().split("\n") == [
        *("# Review", "", "2 hunks: 1 accepted, 1 rejected, 0 open.", "", "all\n".rstrip("\n"), "", ""),
        *("## a", "", "> the file", ""),
        *("### mode 100644 to 100755: accepted by rule: a rule", ""),
        *("### lines 1-1: rejected", "", "> no", ""),
        *("````diff", "-1", "+```", "````", ""),
    ]
    value = json.loads(export(found, review, "json"))
    assert [hunk["verdict"] for hunk in value["files"][0]["hunks"]] == ["accept", "reject"]
