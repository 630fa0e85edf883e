from __future__ import annotations

import io

import pytest

from forge.hosts.cli.screen import Screen, Typist, clean, open_screen, wrap


def screen(width: int = 40, *, colour: bool = False) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(out, colour=colour, width=width), out


def test_styles_appear_only_where_colours_are_wanted() -> None:
    coloured, _ = screen(colour=True)
    plain, _ = screen()
    assert (coloured.paint("x", "red"), plain.paint("x", "red")) == ("\x1b[31mx\x1b[0m", "x")


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_output_that_is_no_terminal_has_no_colours(env: dict[str, str]) -> None:
    assert open_screen(env).colour is False


@pytest.mark.parametrize(("columns", "width"), [("", 80), ("120", 120), ("5", 30), ("x", 80), ("0", 80)])
def test_width_comes_from_the_environment_without_a_terminal(columns: str, width: int) -> None:
    assert open_screen({"COLUMNS": columns}).width == width


def test_paragraphs_are_wrapped_with_their_marks() -> None:
    shown, out = screen(30)
    shown.say("one two three four five six seven eight", first="1 ", then="  ")
    assert out.getvalue() == "1 one two three four five six\n  seven eight\n"


def test_long_words_stay_whole() -> None:
    assert wrap("see /a/very/long/path/that/does/not/fit", 20) == [
        "see",
        "/a/very/long/path/that/does/not/fit",
    ]


def test_line_breaks_of_the_text_are_kept() -> None:
    assert wrap("one\n\ntwo", 20, "- ", "  ") == ["- one", "", "  two"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("a\x07b\rc\x9bd", "abcd"),
        ("one\r\ntwo", "one\ntwo"),
        ("\tx", "    x"),
    ],
)
def test_nothing_shown_can_move_the_cursor(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clipped_text_fits_in_one_line() -> None:
    shown, _ = screen(20)
    assert shown.clip("0123456789\n0123456789", 4) == "0123456789 0123…"
    assert shown.clip("short") == "short"


def test_columns_are_aligned_and_the_last_one_wraps() -> None:
    shown, out = screen(36)
    shown.table([("a", "one two three four five six seven"), ("long", "x")])
    assert out.getvalue() == ("  a     one two three four five six\n        seven\n  long  x\n")


def test_last_column_goes_below_where_there_is_no_room() -> None:
    shown, out = screen(30)
    shown.table([("a-name-that-needs-all-the-room", "the value is here, and it is long")])
    assert out.getvalue() == (
        "  a-name-that-needs-all-the-room\n      the value is here, and\n      it is long\n"
    )


def test_painted_cells_do_not_disturb_the_columns() -> None:
    shown, out = screen(colour=True)
    shown.table([(shown.paint("+", "green"), "a"), ("no", "b")])
    assert out.getvalue() == "  \x1b[32m+\x1b[0m   a\n  no  b\n"


def test_text_that_arrives_in_pieces_breaks_between_words() -> None:
    shown, out = screen(12)
    typist = Typist(shown, "* ", "  ")
    for piece in ("alpha ", "be", "ta ", "gamma\n", "delta"):
        typist.feed(piece)
    typist.end()
    typist.feed("next")
    typist.end()
    assert out.getvalue() == "* alpha beta\n  gamma\n  delta\n* next\n"
