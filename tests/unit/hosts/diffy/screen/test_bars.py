from __future__ import annotations

import pytest
from rich.cells import cell_len

from forge.hosts.diffy.screen.bars import Branch, branch, shortened, statistics, status_bar, top_bar, tree
from forge.hosts.diffy.screen.contents import contents_of
from forge.hosts.diffy.screen.keys import GROUPS, help_lines
from forge.hosts.diffy.screen.paint import Part
from unit.hosts.diffy.screen.sheets import desk, file, listing, shop, unit


def text(parts: list[Part]) -> str:
    return "".join(text for text, _ in parts)


@pytest.mark.parametrize(
    ("width", "bar"),
    [
        (80, " src/cart.py +3 −4                                       ·3 ✓1  2/4  since turn "),
        (50, " src/cart.py +3 −4                     ·3 ✓1  2/4 "),
        (30, " …c/cart.py +3 −4  ·3 ✓1  2/4 "),
    ],
)
def test_the_first_row_tells_where_one_is(width: int, bar: str) -> None:
    one = desk()
    one.decide("accept")
    assert text(top_bar(one, "turn", width)) == bar


def test_a_review_of_nothing_says_so() -> None:
    assert text(top_bar(desk(listing()), "turn", 40)).strip() == "diffy  nothing to review"


@pytest.mark.parametrize("width", [21, 40, 80, 120, 200])
def test_the_last_row_offers_what_fits(width: int) -> None:
    bar = text(status_bar(desk(), width))
    assert (cell_len(bar), bar.startswith(" a accept  r reject")) == (width, True)


def test_a_message_takes_the_place_of_the_hints() -> None:
    one = desk()
    one.message = "undone"
    assert text(status_bar(one, 40, "agent gone")).strip() == "agent gone  undone"


def test_files_stand_under_their_directories() -> None:
    found = listing(*(file(path, unit(path, "+x\n")) for path in ("a/b/c.py", "a/b/d.py", "a/e.py", "f.py")))
    assert tree(contents_of(found)) == [
        Branch("a/", 0),
        Branch("b/", 1),
        Branch("c.py", 2, 0),
        Branch("d.py", 2, 1),
        Branch("e.py", 1, 2),
        Branch("f.py", 0, 3),
    ]


def test_a_branch_shows_the_state_of_its_file() -> None:
    one = desk()
    rows = tree(one.contents)
    pending = text(branch(one, rows[1], False, 30))
    one.decide_all("accept", file=True)
    decided = text(branch(one, rows[1], True, 30))
    assert (pending, decided) == ("   · cart.py            +3 −4 ", "   ✓ cart.py            +3 −4 ")


@pytest.mark.parametrize(
    ("path", "width", "short"),
    [("abc", 3, "abc"), ("abcdef", 4, "…def"), ("가나다", 4, "…다"), ("가나다", 5, "…나다")],
)
def test_long_paths_keep_their_end(path: str, width: int, short: str) -> None:
    assert shortened(path, width) == short


def test_statistics_count_hunks_lines_and_kinds_of_files() -> None:
    one = desk()
    one.decide("accept")
    one.decide("reject")
    found = statistics(one)
    assert [row for row in found if row[0]] == [
        ("all", "4"),
        ("pending", "2"),
        ("accepted", "1"),
        ("rejected", "1"),
        ("mixed", "0"),
        ("asked", "0"),
        ("accepted of decided", "50 %"),
        ("files", "3"),
        ("lines added", "4"),
        ("lines removed", "5"),
        ("comments", "0"),
        (".py", "2: 1 accepted, 1 rejected"),
        (".md", "1: 0 accepted, 0 rejected"),
        (".sh", "1: 0 accepted, 0 rejected"),
    ]
    assert len(shop().files) == 3


def test_every_key_is_there_once_and_has_a_help_or_a_partner() -> None:
    keys = [name for group in GROUPS for key in group.keys for name in key.keys.split(",")]
    assert len(keys) == len(set(keys))
    assert [line for line in help_lines() if line[0] and not line[1]] == []
