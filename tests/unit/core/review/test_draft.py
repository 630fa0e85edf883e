from __future__ import annotations

import msgspec
import pytest

from forge.core.review.draft import Comment, Counts, Draft, Mark, Saved, State, dump, load, review_of
from forge.core.review.model import Decision, File, FileRemark, Listing, Remark, Review, Unit

BODY = (b" a\n", b"-b\n", b"+c\n", b" d\n", b"+e\n")
CHANGES = (1, 2, 4)


def listing() -> Listing:
    units = tuple(Unit(name, "text", 1, 3, 1, 4, BODY) for name in ("one", "two", "three"))
    return Listing("b", "n", (File("x.py", "x.py", "M", "100644", "100644", "o", "n", units),), {})


@pytest.mark.requirement("S3-03")
def test_a_verdict_is_kept_until_it_is_undone_and_comes_back_with_redo() -> None:
    draft = Draft()
    draft.decide(["one", "two"], "accept")
    draft.decide(["one"], "reject")
    states = [draft.state("one"), draft.state("two")]
    undone = draft.undo()
    after = [draft.state("one"), draft.state("two")]
    assert (states, undone, after) == (
        [State.REJECTED, State.ACCEPTED],
        ("reject", ["one"]),
        [State.ACCEPTED, State.ACCEPTED],
    )
    assert draft.redo() == ("reject", ["one"])
    assert draft.state("one") is State.REJECTED
    assert draft.redo() == ("", [])


def test_a_new_change_ends_what_could_be_redone() -> None:
    draft = Draft()
    draft.decide(["one"], "accept")
    draft.undo()
    draft.decide(["one"], "reject")
    assert (draft.redo(), draft.state("one")) == (("", []), State.REJECTED)


def test_a_change_that_changes_nothing_is_no_step() -> None:
    draft = Draft()
    draft.decide(["one"], "accept")
    draft.decide(["one"], "accept")
    draft.undo()
    assert draft.undo() == ("", [])


@pytest.mark.parametrize(
    ("steps", "mark", "state"),
    [
        ([((1,), "reject")], Mark(rejected=(1,), open=True), State.PENDING),
        ([((1,), "reject"), ((2, 4), "accept")], Mark(accepted=(2, 4), rejected=(1,)), State.MIXED),
        ([((1,), "reject"), ((2, 4), "reject")], Mark(verdict="reject"), State.REJECTED),
        ([((1, 2, 4), "accept")], Mark(verdict="accept"), State.ACCEPTED),
        ([((0, 3), "reject")], Mark(), State.PENDING),
        ([((1, 2, 4), "accept"), ((4,), "")], Mark(accepted=(1, 2), open=True), State.PENDING),
    ],
)
def test_verdicts_of_lines_add_up(steps: list[tuple[tuple[int, ...], str]], mark: Mark, state: State) -> None:
    draft = Draft()
    for lines, verdict in steps:
        draft.decide_lines("one", CHANGES, lines, verdict)
    assert (draft.mark("one"), draft.state("one")) == (mark, state)


def test_one_place_has_one_comment_and_an_empty_text_removes_it() -> None:
    draft = Draft()
    draft.comment(Comment("first", "x.py", "one"))
    draft.comment(Comment("second", "x.py", "one"))
    draft.comment(Comment("lines", "x.py", "one", 1, 2))
    assert draft.comment_at("x.py", "one") == "second"
    draft.comment(Comment("", "x.py", "one"))
    assert draft.comments == (Comment("lines", "x.py", "one", 1, 2),)


def test_an_edit_accepts_and_a_rejection_drops_the_edit() -> None:
    draft = Draft()
    draft.edit("one", "mine\n")
    draft.decide(["one"], "accept")
    kept = draft.mark("one")
    draft.decide(["one"], "reject")
    assert (kept, draft.mark("one")) == (Mark(verdict="accept", edit="mine\n"), Mark(verdict="reject"))


def test_hunks_are_counted_by_state() -> None:
    draft = Draft()
    draft.decide(["one"], "accept")
    draft.ask("two", on=True)
    draft.decide_lines("three", CHANGES, [1], "reject")
    assert draft.counts(["one", "two", "three", "four"]) == Counts(pending=2, accepted=1, asked=1)


def test_a_draft_survives_as_a_file_even_with_names_that_are_not_unicode() -> None:
    draft = Draft(Saved(snapshot="s", hide=True, at="two"))
    draft.decide_lines("one", CHANGES, [1], "reject")
    draft.edit("two", "caf\udce9\n")
    draft.split("three", 1)
    draft.comment(Comment("why?", "b\udcff.py", "one", 1, 2))
    assert load(dump(draft)).saved() == draft.saved()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"marks": 3}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_an_empty_draft(data: bytes) -> None:
    assert load(data).saved() == Saved()


@pytest.mark.parametrize(
    ("rest", "two", "three"),
    [
        (
            "pending",
            [Decision("two", "reject", lines=(1,)), Decision("two", "pending", lines=(2, 4))],
            [],
        ),
        (
            "accept",
            [Decision("two", "reject", lines=(1,)), Decision("two", "accept", lines=(2, 4))],
            [],
        ),
    ],
)
def test_what_is_open_becomes_what_the_user_says(
    rest: str, two: list[Decision], three: list[Decision]
) -> None:
    draft = Draft()
    draft.decide(["one"], "reject")
    draft.decide_lines("two", CHANGES, [1], "reject")
    assert review_of(draft, listing(), rest) == Review(
        snapshot="b-n", default=rest, decisions=(Decision("one", "reject"), *two, *three)
    )


@pytest.mark.requirement("S3-03")
def test_comments_questions_and_edits_reach_the_review() -> None:
    draft = Draft()
    draft.edit("one", "mine\n")
    draft.ask("two", on=True)
    for comment in (
        Comment("what for?", "x.py", "two"),
        Comment("later lines", "x.py", "three", 4, 4),
        Comment("these", "x.py", "three", 1, 2),
        Comment("the file", "x.py"),
        Comment("all", ""),
    ):
        draft.comment(comment)
    draft.decide_lines("three", CHANGES, [4], "reject")
    draft.decide_lines("three", CHANGES, [1, 2], "accept")
    assert review_of(draft, listing(), "pending") == Review(
        snapshot="b-n",
        default="pending",
        decisions=(
            Decision("one", "accept", edit="mine\n"),
            Decision("two", "pending", comment="what for?", question=True),
            Decision(
                "three", "reject", lines=(4,), remarks=(Remark("these", 1, 2), Remark("later lines", 4, 4))
            ),
            Decision("three", "accept", lines=(1, 2)),
        ),
        comment="all",
        files=(FileRemark("x.py", "the file"),),
    )


def test_a_thousand_steps_can_be_undone_and_no_more_are_kept() -> None:
    draft = Draft()
    for number in range(1100):
        draft.decide([f"h{number}"], "accept")
    count = 0
    while draft.undo()[0]:
        count += 1
    assert (count, len(msgspec.to_builtins(draft.saved())["marks"])) == (1000, 100)


def test_rules_decide_only_what_the_user_has_not() -> None:
    draft = Draft()
    draft.decide(["one"], "reject")
    draft.take_rules([Decision(name, "accept", by="lock") for name in ("one", "two", "three")])
    draft.decide(["three"], "reject")
    assert review_of(draft, listing(), "pending").decisions == (
        Decision("one", "reject"),
        Decision("two", "accept", by="lock"),
        Decision("three", "reject"),
    )
    draft.undo()
    assert draft.mark("three") == Mark(verdict="accept", by="lock")
    assert load(dump(draft)).saved().marks == {"one": Mark(verdict="reject")}
