from __future__ import annotations

import pytest

from forge.hosts.diffy.lines import review_lines, text_of
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.opening import Ended
from unit.hosts.diffy.screen.sheets import desk, file, listing, unit


def play(one: Desk, *answers: str, edited: str | None = None) -> tuple[Ended, str]:
    """The review with these answers, and what was said; with no more answers the input ends."""
    said: list[str] = []
    rest = iter(answers)

    def read(question: str) -> str:
        said.append(question)
        try:
            return next(rest)
        except StopIteration:
            raise EOFError from None

    ended = review_lines(one, read, said.append, lambda _text, _path: edited)
    return ended, "".join(said)


def verdicts(one: Desk) -> list[str]:
    return [one.draft.state(piece.id).value for piece in one.contents.pieces]


@pytest.mark.requirement("S3-03")
@pytest.mark.parametrize(
    ("answers", "ended", "states"),
    [
        (("y", "n", "y", "y", "y"), Ended(True), ["accepted", "rejected", "accepted", "accepted"]),
        (("a", "d", "q", "k"), Ended(True), ["accepted", "accepted", "rejected", "pending"]),
        (("n", "q", "a"), Ended(True, "accept"), ["rejected", "pending", "pending", "pending"]),
        (("n", "q", "l"), Ended(False), ["rejected", "pending", "pending", "pending"]),
        (("y", "u", "n"), Ended(False), ["rejected", "pending", "pending", "pending"]),
        (("s", "y", "n"), Ended(False), ["mixed", "pending", "pending", "pending"]),
        (("x",), Ended(False), ["asked", "pending", "pending", "pending"]),
        (("j", "y", "k", "n"), Ended(False), ["pending", "rejected", "pending", "pending"]),
        (("?", "what", ""), Ended(False), ["pending"] * 4),
        (("q", "", "y"), Ended(False), ["accepted", "pending", "pending", "pending"]),
        (("y", "y", "y", "y", "u", "n", "y"), Ended(True), ["accepted", "accepted", "accepted", "rejected"]),
    ],
)
def test_letters_decide_hunk_by_hunk(answers: tuple[str, ...], ended: Ended, states: list[str]) -> None:
    one = desk()
    assert (play(one, *answers)[0], verdicts(one)) == (ended, states)


def test_a_comment_is_asked_for_and_shown() -> None:
    one = desk()
    _, said = play(one, "c", "too long", "y")
    assert one.draft.comment_at("src/cart.py", "one") == "too long"
    assert "  comment: too long\n" in said


def test_an_edit_replaces_the_new_lines() -> None:
    one = desk()
    play(one, "e", edited="def total(items): ...\n")
    assert one.draft.mark("one").edit == "def total(items): ...\n"


def test_a_failed_editor_changes_nothing() -> None:
    one = desk()
    _, said = play(one, "e")
    assert (verdicts(one)[0], "the editor failed" in said) == ("pending", True)


def test_the_text_shows_the_part_under_the_cursor_and_no_control_characters() -> None:
    one = desk(listing(file("a.py", unit("u", " x\n-\x1b[2J\n+y\n z\n+w\n"))))
    one.split()
    assert text_of(one) == "\na.py\n@@ -1,3 +1,4 @@\n x\n-␛[2J\n+y\n z\n"
