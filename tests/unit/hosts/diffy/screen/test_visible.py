from __future__ import annotations

import pytest
from rich.cells import cell_len

from forge.hosts.diffy.screen.visible import Shown, cuts, hidden_in, plain, shown


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("plain text", Shown("plain text")),
        ("가나다", Shown("가나다")),
        ("👨‍👩‍👧\t|", Shown("👨‍👩‍👧  |", (0, 1, 2, 3, 4, 5, 7))),
        ("\tx\ty", Shown("    x   y", (0, 4, 5, 8))),
        ("가\tx", Shown("가  x", (0, 1, 3))),
        ("a\x1b[31m", Shown("a␛[31m", (0, 1, 2, 3, 4, 5), ((1, 2),))),
        ("x\r", Shown("x␍", (0, 1), ((1, 2),))),
        ("caf\udce9", Shown("caf<E9>", (0, 1, 2, 3), ((3, 7),))),
        ("a\u202eb", Shown("a<U+202E>b", (0, 1, 9), ((1, 9),))),
        ("\x7f\x9b", Shown("␡<9B>", (0, 1), ((0, 1), (1, 5)))),
    ],
)
def test_a_line_is_shown_with_everything_that_hides_in_it(line: str, expected: Shown) -> None:
    assert shown(line) == expected


@pytest.mark.parametrize(
    ("line", "deceives"),
    [
        ("if access_level != 'user\u202e \u2066// admin\u2069':", True),
        ("pass\u200bword", True),
        ("i\u200df", True),
        ("\ufeffimport os", True),
        ("ㅤ = 1".replace("ㅤ", "\u3164"), True),
        ("👨‍👩‍👧 가족", False),
        ("می\u200cخواهم", False),
        ("plain", False),
        ("caf\udce9", False),
        ("tab\t and ␛ \x1b", False),
    ],
)
def test_lines_that_can_deceive_are_told_from_honest_ones(line: str, deceives: bool) -> None:
    assert hidden_in(line) is deceives


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abcdef", 4, [0, 4]),
        ("abcd", 4, [0]),
        ("가나다", 4, [0, 2]),
        ("a가나", 4, [0, 2]),
        ("👨‍👩‍👧👨‍👩‍👧", 3, [0, 5]),
        ("", 4, [0]),
    ],
)
def test_wrapping_never_cuts_a_character(text: str, width: int, expected: list[int]) -> None:
    assert cuts(text, width) == expected


@pytest.mark.parametrize(
    ("text", "width"),
    [("한글", 4), ("👨‍👩‍👧", 2), ("🇰🇷", 2), ("❤️", 2), ("1️⃣", 2), ("e\u0301", 1), ("日本語", 6)],
)
def test_widths_are_those_of_terminals(text: str, width: int) -> None:
    assert cell_len(shown(text).text) == width


def test_names_stay_on_one_line() -> None:
    assert plain("a\nb\tc\x1b") == "a␊b c␛"
