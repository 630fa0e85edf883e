from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.core.shell.session.screen import Screen, View

ROWS, COLUMNS = 4, 10


def shown(output: str, *, rows: int = ROWS, columns: int = COLUMNS) -> str:
    screen = Screen(rows, columns)
    screen.feed(output.encode())
    return screen.view().text()


@pytest.mark.requirement("S2-09")
@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("hello", "hello"),
        ("a\r\nb", "a\nb"),
        ("a\nb", "a\n b"),
        ("12345678901234", "1234567890\n1234"),
        ("1234567890\r\nx", "1234567890\nx"),
        ("1234567890x", "1234567890\nx"),
        ("1234567890\b\bX", "1234567X90"),
        ("abc\rX", "Xbc"),
        ("abc\b\bX", "aXc"),
        ("a\tb", "a       b"),
        ("a\tb\tc", "a       bc"),
        ("1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5"),
        ("\x1b[31mred\x1b[0m and\x1b[1;38:5:9m x", "red and x"),
        ("abc\x1b[2Dx", "axc"),
        ("abc\x1b[1;1Hx", "xbc"),
        ("\x1b[3;4Hx", "\n\n   x"),
        ("\x1b[99;99Hx", "\n\n\n         x"),
        ("abcdef\x1b[3G\x1b[K", "ab"),
        ("abcdef\x1b[3G\x1b[1K", "   def"),
        ("abcdef\x1b[3G\x1b[2K", ""),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[J", "a"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[1J", "\n\nc"),
        ("a\r\nb\x1b[2Jc", "\n c"),
        ("abcdef\x1b[3G\x1b[2P", "abef"),
        ("abcdef\x1b[3G\x1b[2@", "ab  cdef"),
        ("abcdef\x1b[3G\x1b[2X", "ab  ef"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[L", "a\n\nb\nc"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[M", "a\nc"),
        ("a\r\nb\r\nc\r\nd\x1b[2S", "c\nd"),
        ("a\r\nb\x1b[T", "\na\nb"),
        ("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nx", "a\nc\nx\nd"),
        ("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1bMx", "a\nx\nb\nd"),
        ("\x1b[Aa\x1b[Bb\x1b[Ec\x1b[Fd", "a\nd\nc".replace("\nd", "\ndb")),
        ("ab\x1b7cd\x1b8X", "abXd"),
        ("ab\x1b[scd\x1b[uX", "abXd"),
        ("main\x1b[?1049h\x1b[2J\x1b[Hother\x1b[?1049l!", "main!"),
        ("main\x1b[?1049hother", "    other"),
        ("x\x1b[3b", "xxxx"),
        ("\x1b[4habc\x1b[1Gx", "xabc"),
        ("\x1b[?7l12345678901234", "1234567894"),
        ("\x1b(0lqk\x1b(Bx", "┌─┐x"),
        ("\x1b)0\x0eq\x0fq", "─q"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1bPq~~\x1b\\c", "abc"),
        ("a\x1b[?2026h\x1b[>4;2m\x1b[?12$p\x1b[!pb\x1b=\x1b>c\x1b#8", "abc"),
        ("a\x1b[12\x18b\x1b[\x1b[1mc", "abc"),
        ("日本", "日本"),
        ("12345678日x", "12345678日\nx"),
        ("123456789日x", "123456789\n日x"),
        ("日本\x1b[2Gx", " x本"),
        ("日本\x1b[3Gx", "日x"),
        ("日本\x1b[1Gx", "x 本"),
        ("e\u0301a\u0302!", "e\u0301a\u0302!"),
        ("日\u0301x", "日\u0301x"),
        ("👍\ufe0f!", "👍\ufe0f!"),
        ("\x1bchi\x00\x07\x7f", "hi"),
    ],
)
def test_a_screen_shows_what_a_terminal_would_show(output: str, text: str) -> None:
    assert shown(output) == text


def test_a_view_tells_cursor_title_and_which_screen() -> None:
    screen = Screen(3, 10)
    screen.feed(b"\x1b]2;vim\x07one\x1b[?1049h\x1b[?25l\x1b[2;3Htwo")
    assert screen.view() == View(("", "  two", ""), (1, 5), "vim", alternate=True, cursor_visible=False)


def test_lines_that_leave_the_screen_are_kept_up_to_a_limit() -> None:
    screen = Screen(2, 10, keep=3, newline=True)
    screen.feed("".join(f"{n}\n" for n in range(9)).encode())
    assert (screen.kept_lines(), screen.view().lines) == (["5", "6", "7"], ("8", ""))


def test_the_other_screen_keeps_no_lines() -> None:
    screen = Screen(2, 10)
    screen.feed(b"\x1b[?1049h1\r\n2\r\n3\r\n4")
    assert screen.kept_lines() == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("\x1b[c", b"\x1b[?6c"),
        ("\x1b[>c", b"\x1b[>0;10;0c"),
        ("\x1b[5n", b"\x1b[0n"),
        ("ab\x1b[6n", b"\x1b[1;3R"),
    ],
)
def test_questions_to_the_terminal_are_answered_once(question: str, answer: bytes) -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(question.encode())
    assert (screen.take_replies(), screen.take_replies()) == (answer, b"")


def test_a_smaller_screen_keeps_the_line_with_the_cursor() -> None:
    screen = Screen(4, 10)
    screen.feed(b"1\r\n2\r\n3\r\n1234567890")
    screen.resize(2, 5)
    assert (screen.view().lines, screen.view().cursor, screen.kept_lines()) == (
        ("3", "12345"),
        (1, 4),
        ["1", "2"],
    )


def test_a_larger_screen_gets_blank_lines_below() -> None:
    screen = Screen(2, 5)
    screen.feed(b"a\r\nb")
    screen.resize(3, 8)
    screen.feed(b"\r\n12345678")
    assert screen.view().lines == ("a", "b", "12345678")


def test_a_sequence_that_never_ends_is_not_kept_for_ever() -> None:
    screen = Screen(ROWS, COLUMNS)
    for _ in range(40):
        screen.feed(b"\x1b]0;" + b"x" * 4000)
    screen.feed(b"\x07end")
    assert screen.view().text() == "end"


def test_invalid_bytes_are_shown_as_replacements() -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(b"a\xffb\xe6\x97")
    screen.feed(b"\xa5c")
    assert screen.view().text() == "a\ufffdb日c"


PIECES = st.sampled_from(
    [
        "text", "a longer run of text", "\r", "\n", "\r\n", "\b", "\t", "\x0e", "\x0f", "\x84",
        "日本", "e\u0301", "👍", "\u200d", "é", "\x1b[A", "\x1b[3B", "\x1b[C", "\x1b[2D", "\x1b[H",
        "\x1b[2;3H", "\x1b[5G", "\x1b[2d", "\x1b[E", "\x1b[F", "\x1b[J", "\x1b[1J", "\x1b[2J",
        "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[L", "\x1b[2M", "\x1b[@", "\x1b[2P", "\x1b[3X",
        "\x1b[S", "\x1b[T", "\x1b[2;3r", "\x1b[r", "\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8",
        "\x1bc", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?7l", "\x1b[?7h",
        "\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l", "\x1b[?6h", "\x1b[?6l", "\x1b[31m",
        "\x1b[6n", "\x1b[3b", "\x1b[Z", "\x1b[2I", "\x1b]0;t\x07", "\x1b]2;u\x1b\\",
        "\x1bPx\x1b\\", "\x1b(0", "\x1b(B", "\x1b[!p", "\x1b", "\x1b[", "\x1b]", "\x18",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40), st.lists(st.integers(1, 12), min_size=1, max_size=10))
def test_the_screen_does_not_depend_on_how_output_is_divided(pieces: list[str], sizes: list[int]) -> None:
    data = "".join(pieces).encode()
    whole, divided = Screen(ROWS, COLUMNS), Screen(ROWS, COLUMNS)
    whole.feed(data)
    place = turn = 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        divided.feed(data[place : place + size])
        place, turn = place + size, turn + 1
    assert (divided.view(), divided.kept_lines(), divided.replies) == (
        whole.view(),
        whole.kept_lines(),
        whole.replies,
    )


@given(st.lists(PIECES, max_size=60), st.integers(1, 5), st.integers(1, 6))
def test_no_output_breaks_the_shape_of_the_screen(pieces: list[str], rows: int, columns: int) -> None:
    screen = Screen(rows, columns)
    screen.feed("".join(pieces).encode())
    screen.resize(columns, rows)
    screen.feed("".join(reversed(pieces)).encode())
    grid = screen._grid
    assert len(grid.rows) == grid.height == columns
    assert max(map(len, grid.rows)) <= grid.width == rows
    assert 0 <= grid.row < grid.height and 0 <= grid.column <= grid.width


@given(st.binary(max_size=400))
def test_any_bytes_can_be_fed(data: bytes) -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(data)
    assert len(screen.view().lines) == ROWS
