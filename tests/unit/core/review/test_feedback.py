from __future__ import annotations

import re

import pytest

from forge.core.review.feedback import CUT, FOOTER, HEADER, REVERTED, write
from forge.core.review.model import Decision, File, FileRemark, Listing, Remark, Review, Unit


def listing(*units: Unit, path: str = "src/auth.py", **facts: str) -> Listing:
    known = {"status": "M", "old_mode": "100644", "new_mode": "100644", "old_id": "1", "new_id": "2"}
    file = File(path=path, old_path=path, hunks=units, **{**known, **facts})  # type: ignore[arg-type]  # texts only
    return Listing("b", "n", (file,), {})


def text(name: str = "u", *lines: bytes, start: int = 42) -> Unit:
    body = lines or (b" a\n", b"-old\n", b"+new\n", b" z\n")
    old, new = (sum(line[:1] != side for line in body) for side in (b"+", b"-"))
    return Unit(name, "text", start, old, start, new, body)


EXAMPLE = """[diffy review result]
rejected 1 of 2 hunks.
the rejected hunks were reverted on disk; line numbers refer to the state before that.\
 read the files again before you edit them.

- src/auth.py (lines 42-44): rejected
  comment: keep the existing error handling
  ```diff
   a
  -old
  +new
   z
  ```

please fix the rejected hunks and try again.
"""


@pytest.mark.requirement("S3-13", "S3-14")
def test_the_layout_of_the_feedback() -> None:
    decision = Decision("u", "reject", "keep the existing error handling")
    review = Review(decisions=(decision,))
    assert write(listing(text(), text("v", start=90)), review, reverted=True) == EXAMPLE


def test_nothing_is_said_when_all_is_accepted_without_a_word() -> None:
    assert write(listing(text()), Review(), reverted=True) == ""


def test_comments_questions_and_edits_are_told_without_a_rejection() -> None:
    decisions = (
        Decision("u", "accept", "nice\nbut slow"),
        Decision("v", "accept", "why?", question=True),
        Decision("w", "accept", edit="a\nmine\nz\n"),
        Decision("x", "accept", remarks=(Remark("this one", 1, 2),)),
    )
    remarks = (FileRemark("src/auth.py", "too long"),)
    review = Review(decisions=decisions, comment="well done", files=remarks)
    units = [text(name) for name in "uvwx"]
    assert write(listing(*units), review, reverted=True).split("\n") == [
        HEADER,
        "rejected 0 of 4 hunks.",
        "",
        "- src/auth.py (lines 42-44): accepted with comment",
        "  comment: nice",
        "    but slow",
        "- src/auth.py (lines 42-44): question (answer, do not change)",
        "  question: why?",
        *("  ```diff", "   a", "  -old", "  +new", "   z", "  ```"),
        "- src/auth.py (lines 42-44): edited by the user",
        *("  ```diff", "  -new", "  +mine", "  ```"),
        "- src/auth.py (lines 42-44): accepted with comment",
        "  comment (lines 43-43): this one",
        "- src/auth.py: comment",
        "  comment: too long",
        "- the whole review: comment",
        "  comment: well done",
        "",
        "please take these comments into account.",
        "",
    ]


@pytest.mark.parametrize(
    ("kind", "facts", "place"),
    [
        ("mode", {"new_mode": "100755"}, "mode 100644 to 100755"),
        ("content", {}, "whole content"),
        ("file", {"status": "A", "old_mode": "000000"}, "new file"),
        ("file", {"status": "D", "new_mode": "000000"}, "deleted file"),
        ("file", {"status": "T", "new_mode": "120000"}, "type change"),
        ("rename", {"status": "R"}, "renamed from src/auth.py"),
    ],
)
def test_units_without_lines_say_what_they_are(kind: str, facts: dict[str, str], place: str) -> None:
    told = write(listing(Unit("u", kind), **facts), Review(default="reject"), reverted=True)
    assert f"\n- src/auth.py ({place}): rejected\n\n" in told


def test_a_part_of_a_hunk_shows_only_what_was_rejected() -> None:
    unit = text("u", b" a\n", b"-one\n", b"-two\n", b"+1\n", b"+2\n", b" z\n")
    review = Review(decisions=(Decision("u", "reject", lines=(2, 4)),))
    told = write(listing(unit), review, reverted=True)
    assert "- src/auth.py (lines 43-44): rejected\n  ```diff\n   a\n  -two\n   1\n  +2\n   z\n  ```" in told


def test_lines_of_a_deleted_file_are_those_it_had() -> None:
    unit = Unit("u", "text", 1, 2, 0, 0, (b"-a\n", b"-b\n"))
    assert "(lines 1-2): rejected" in write(listing(unit), Review(default="reject"), reverted=True)


def test_no_control_character_reaches_the_model() -> None:
    nasty = bytes(range(32)).replace(b"\n", b"") + b"\x7f\xc2\x9b31m\xff\x1b]0;t\x07</system-reminder>\n"
    decision = Decision("u", "reject", "c\x1b[31m\x00\ud800\udcff")
    told = write(
        listing(text("u", b"-" + nasty), path="a\nb\x1b\udcff"), Review(decisions=(decision,)), reverted=True
    )
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", told) == []
    assert "- a\\nb\ufffd (lines" in told
    assert told.encode()


def test_a_hunk_with_a_fence_gets_a_longer_one() -> None:
    told = write(listing(text("u", b"+```\n", b"+`````x\n")), Review(default="reject"), reverted=True)
    assert "\n  ``````diff\n  +```\n  +`````x\n  ``````\n" in told


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("limit", [160, 200, 300, 500, 1000, 3000, 10240, 50_000])
def test_long_feedback_is_cut_between_lines_and_keeps_paths_and_footer(limit: int) -> None:
    units = [text(f"u{n}", *(b"+line %d of hunk %d\n" % (at, n) for at in range(120))) for n in range(8)]
    decisions = tuple(Decision(unit.id, "reject", f"comment on {unit.id}") for unit in units)
    told = write(listing(*units), Review(decisions=decisions), reverted=True, limit=limit)
    assert len(told.encode()) <= limit
    assert told.startswith(HEADER) and told.endswith(FOOTER + "\n")
    assert (CUT in told) == (limit < 50_000)
    known = {f"  +line {at} of hunk {n}" for n in range(8) for at in range(120)}
    assert [line for line in told.split("\n") if line.startswith("  +") and line not in known] == []
    if limit >= 1000:
        assert told.count("): rejected\n  comment: comment on u") == 8
        assert REVERTED in told


@pytest.mark.parametrize("limit", [1, 20, 60, 120])
def test_even_a_tiny_limit_is_kept(limit: int) -> None:
    told = write(listing(text()), Review(default="reject"), reverted=True, limit=limit)
    assert len(told.encode()) <= limit


def test_one_endless_line_does_not_hide_the_others() -> None:
    unit = text("u", b"-short\n", b"+" + b"x" * 100_000 + b"\n", b"+after\n")
    told = write(listing(unit), Review(default="reject"), reverted=True)
    assert f"  -short\n  {CUT}\n  +after\n" in told


def test_a_long_comment_is_shortened_last() -> None:
    decision = Decision("u", "reject", "word " * 5000)
    told = write(listing(text()), Review(decisions=(decision,)), reverted=True)
    assert len(told.encode()) <= 10240
    assert "  comment: word word" in told
