from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.core.review.draft import Comment, Draft, Mark, Saved, State, dump
from forge.core.review.model import Decision, Review
from forge.hosts.diffy.screen.contents import contents_of
from forge.hosts.diffy.screen.desk import Desk, Place
from forge.hosts.diffy.screen.rows import Stop, View
from unit.hosts.diffy.screen.sheets import desk, file, listing, screen, shop, unit

Command = Callable[[Desk], object]


def states(one: Desk) -> str:
    letters = {
        State.PENDING: ".",
        State.ACCEPTED: "a",
        State.REJECTED: "r",
        State.MIXED: "~",
        State.ASKED: "?",
    }
    return "".join(letters[one.draft.state(piece.id)] for piece in one.contents.pieces)


@pytest.mark.parametrize(
    ("commands", "unit", "message"),
    [
        ([lambda d: d.step(1)], 1, ""),
        ([lambda d: d.step(-1)], 0, "this is the first hunk"),
        ([lambda d: d.step_file(1)], 2, ""),
        ([lambda d: d.step_file(1)] * 3, 3, "this is the last file"),
        ([lambda d: d.ends(1)], 3, ""),
        ([lambda d: d.ends(1), lambda d: d.step(1)], 3, "this is the last hunk"),
        ([lambda d: d.ends(1), lambda d: d.step_pending()], 0, ""),
        ([lambda d: d.decide("accept")], 1, ""),
        ([lambda d: d.ends(1), lambda d: d.decide("reject")], 0, ""),
        ([lambda d: d.decide_all("accept"), Desk.step_pending], 0, "everything is decided: Enter finishes"),
    ],
)
def test_the_cursor_goes_where_the_keys_say(commands: list[Command], unit: int, message: str) -> None:
    one = desk()
    for command in commands:
        one.message = ""
        command(one)
    assert (one.here.unit, one.message) == (unit, message)


@pytest.mark.requirement("S3-03")
def test_decisions_are_saved_at_once_and_come_back() -> None:
    kept: list[bytes] = []
    one = Desk(contents_of(shop()), Draft(), View(), lambda draft: kept.append(dump(draft)))
    one.decide("reject")
    one.toggle()
    one.comment(one.place("hunk"), " what? ")
    assert len(kept) == 3
    again = desk(draft=Draft(one.draft.saved()))
    assert (states(again), again.here.unit) == ("ra..", 1)
    assert again.draft.comments == (Comment("what?", "src/cart.py", "two"),)


def test_toggling_goes_from_accepted_to_rejected_and_back() -> None:
    one = desk()
    seen = []
    for _ in range(3):
        one.toggle()
        seen.append(states(one))
    assert (seen, one.here.unit) == (["a...", "r...", "a..."], 0)


def test_all_means_what_is_pending_here_or_everywhere() -> None:
    one = desk()
    one.decide("reject")
    one.decide_all("accept", file=True)
    in_file = states(one)
    one.decide_all("accept")
    assert (in_file, states(one)) == ("ra..", "raaa")
    one.undo()
    assert states(one) == "ra.."


def test_parts_are_decided_one_by_one() -> None:
    one = desk()
    one.split()
    assert (one.message, one.here) == ("2 parts", Stop(0, 1, 3))
    one.decide("accept")
    assert (one.here, states(one)) == (Stop(0, 6, 7), "....")
    one.decide("reject")
    assert (one.here, states(one)) == (Stop(1), "~...")
    assert one.draft.mark("one") == Mark(accepted=(1, 2, 3), rejected=(6, 7), split=1)


def test_splitting_goes_from_parts_to_lines_to_the_whole() -> None:
    one = desk()
    messages = []
    for _ in range(3):
        one.split()
        messages.append(one.message)
    one.step_file(1)
    one.step_file(1)
    one.split()
    assert [*messages, one.message] == ["2 parts", "5 lines", "whole again", "this cannot be split"]


@pytest.mark.parametrize(
    ("moves", "rejected"),
    [((), (1,)), ((1, 1), (1, 2, 3)), ((1, 1, -1), (1, 2)), ((-1,), (1,)), ((1,) * 50, (1, 2, 3, 6, 7))],
)
def test_lines_that_are_selected_get_a_verdict_of_their_own(
    moves: tuple[int, ...], rejected: tuple[int, ...]
) -> None:
    one = desk()
    one.select()
    for by in moves:
        one.step(by)
    one.decide("reject")
    mark = one.draft.mark("one")
    assert (mark.rejected or (1, 2, 3, 6, 7), one.scene.selection) == (rejected, None)


def test_the_mouse_selects_in_both_directions() -> None:
    one = desk()
    one.select_to(0, 3)
    one.select_to(0, 1)
    assert one.scene.selection == (0, 1, 3)
    one.select_to(1, 0)
    assert one.scene.selection == (1, 0, 0)


@pytest.mark.parametrize(
    ("scope", "place"),
    [
        ("hunk", Place("hunk 1 in src/cart.py", "src/cart.py", "one")),
        ("file", Place("src/cart.py", "src/cart.py")),
        ("all", Place("the whole review")),
    ],
)
def test_a_comment_has_a_place(scope: str, place: Place) -> None:
    assert desk().place(scope) == place


def test_a_comment_on_lines_has_their_range() -> None:
    one = desk()
    one.select()
    one.step(1)
    assert one.place("hunk") == Place("2 lines of src/cart.py", "src/cart.py", "one", 1, 2)


@pytest.mark.parametrize(
    ("words", "by", "found", "message"),
    [
        ("items", [], (0, 0), "1 of 5 matches"),
        ("items", [1, 1], (0, 5), "3 of 5 matches"),
        ("items", [-1], (0, 7), "5 of 5 matches"),
        ("상품", [], (2, 1), "1 of 2 matches"),
        ("ITEMS", [], None, "not found: ITEMS"),
    ],
)
def test_words_are_found_and_gone_to(
    words: str, by: list[int], found: tuple[int, int] | None, message: str
) -> None:
    one = desk()
    one.find(words)
    for step in by:
        one.step_match(step)
    assert (one.scene.match, one.message) == (found, message)


def test_a_match_is_what_has_to_be_in_sight() -> None:
    one = desk()
    one.find("clear")
    assert one.rows() == (7, 7)


def test_an_edit_is_kept_unless_nothing_was_edited() -> None:
    one = desk()
    one.step(1)
    text = one.edit_text()
    assert text == "a = 2\n"
    one.edit(text)
    unchanged = states(one)
    one.edit("a = 3\n")
    assert (unchanged, states(one), one.edit_text()) == ("....", ".a..", "a = 3\n")
    one.ends(1)
    assert (one.edit_text(), one.message) == (None, "there are no lines to edit")


def test_a_question_is_no_verdict_but_done() -> None:
    one = desk()
    one.ask()
    assert (states(one), one.counts.pending) == ("?...", 3)
    one.ask()
    assert states(one) == "...."


def test_more_of_the_file_can_be_shown_around_a_hunk() -> None:
    blob = b"".join(b"line %d\n" % number for number in range(1, 31))
    found = listing(
        file("a", unit("u", "-x\n+line 15\n", 15), unit("v", "-y\n+line 18\n", 18)), blobs={"new": blob}
    )
    one = desk(found)
    one.expand()
    rows = screen(one)
    assert [rows[2], rows[11], *rows[12:16]] == [
        "    5  5   line 5",
        "   14 14   line 14",
        "▌  15    - x",
        "▌     15 + line 15",
        "   16 16   line 16",
        "   17 17   line 17",
    ]
    one.expand()
    one.expand()
    assert one.message == "there are no more lines around it"


def test_hiding_what_is_decided_moves_on() -> None:
    one = desk()
    one.show(hide=True)
    one.decide("accept")
    one.decide("accept")
    assert (one.here.unit, one.layout.is_shown(0), one.draft.hide) == (2, False, True)


def test_another_baseline_keeps_the_verdicts_of_hunks_that_stay() -> None:
    one = desk()
    one.decide("reject")
    one.decide("accept")
    one.open(contents_of(listing(file("new.py", unit("zero", "+z\n")), *shop().files)), one.view)
    assert (states(one), one.here.unit) == (".ra..", 3)


def test_the_review_says_what_was_decided() -> None:
    one = desk()
    one.decide("reject")
    found = shop()
    assert one.review("accept") == Review(found.snapshot, "accept", (Decision("one", "reject"),))
    assert one.review() == Review(found.snapshot, "pending", (Decision("one", "reject"),))


def test_a_draft_goes_on_at_the_hunk_it_was_left_at() -> None:
    assert desk(draft=Draft(Saved(at="three"))).here == Stop(2)
    assert desk(draft=Draft(Saved(at="gone"))).here == Stop(0)
