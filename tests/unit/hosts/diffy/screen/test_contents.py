from __future__ import annotations

import pytest

from forge.core.review.model import File, Listing, Unit
from forge.hosts.diffy.screen.contents import contents_of, new_text, numbers, search, title_of
from unit.hosts.diffy.screen.sheets import desk, file, listing, screen, shop, unit


@pytest.mark.parametrize(
    ("kind", "modes", "binary", "title"),
    [
        ("rename", ("100644", "100644"), False, "renamed from old␊name"),
        ("mode", ("100644", "100755"), False, "made executable"),
        ("mode", ("100755", "100644"), False, "no longer executable"),
        ("content", ("100644", "100644"), True, "binary content changed"),
        ("file", ("000000", "100644"), True, "binary file added"),
        ("file", ("100644", "000000"), False, "file deleted"),
        ("file", ("000000", "120000"), False, "symbolic link added"),
        ("file", ("100644", "120000"), False, "file became symbolic link"),
        ("file", ("160000", "160000"), False, "submodule moved: shown only, never changed by a review"),
    ],
)
def test_units_without_lines_say_what_they_do(
    kind: str, modes: tuple[str, str], binary: bool, title: str
) -> None:
    one = File("new", "old\nname", "M", *modes, "o", "n", (), binary)
    assert title_of(one, Unit("u", kind)) == title


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (unit("u", " a\n-b\n+c\n d\n", 7), [(7, 7), (8, 0), (0, 8), (9, 9)]),
        (Unit("u", "text", 4, 0, 5, 2, (b"+a\n", b"+b\n")), [(0, 5), (0, 6)]),
        (Unit("u", "text", 5, 2, 4, 0, (b"-a\n", b"-b\n")), [(5, 0), (6, 0)]),
        (Unit("u", "text", 0, 0, 1, 1, (b"+a\n",)), [(0, 1)]),
    ],
)
def test_lines_have_the_numbers_git_gives_them(found: Unit, lines: list[tuple[int, int]]) -> None:
    piece = contents_of(listing(file("a", found))).pieces[0]
    assert [numbers(piece, index) for index in range(len(piece.kinds))] == lines


def test_files_know_their_units_and_sizes() -> None:
    found = contents_of(shop())
    assert [(e.path, e.first, e.end, e.added, e.removed) for e in found.entries] == [
        ("src/cart.py", 0, 2, 3, 4),
        ("docs/guide.md", 2, 3, 1, 1),
        ("run.sh", 3, 4, 0, 0),
    ]
    assert found.places == {"one": 0, "two": 1, "three": 2, "four": 3}


def test_the_new_text_keeps_its_line_ends() -> None:
    lines = (b" a\r\n", b"-b\n", b"+caf\xe9\n", b"+end")
    piece = contents_of(listing(file("a", Unit("u", "text", 1, 2, 1, 3, lines)))).pieces[0]
    assert new_text(piece) == "a\r\ncaf\udce9\nend"


@pytest.mark.parametrize(
    ("words", "lines"),
    [("", []), ("b", [(0, 0), (0, 2)]), ("B", [(0, 2)]), ("a", [(0, 0), (0, 1), (1, 0)]), ("zz", [])],
)
def test_small_letters_find_both(words: str, lines: list[tuple[int, int]]) -> None:
    found = contents_of(listing(file("x", unit("u", "+ab\n+a\n+cB\n"), unit("v", "+A\n", 9))))
    assert search(found, words) == lines


def test_files_that_were_too_large_are_named_but_not_decided() -> None:
    one = desk(Listing("b", "c", shop().files, {}, ("video.mp4",)))
    assert (screen(one)[-2:], len(one.contents.pieces)) == (
        [" video.mp4  new", "         large, not captured: no part of this review"],
        4,
    )
    one.ends(1)
    one.step_file(1)
    assert one.message == "this is the last file"
