from __future__ import annotations

import pytest

from forge.core.review.draft import Comment, Draft
from forge.hosts.diffy.screen.contents import contents_of
from forge.hosts.diffy.screen.rows import Layout, Row, Stop, View, pairs
from unit.hosts.diffy.screen.sheets import desk, file, listing, shop, unit


def layout(view: View | None = None, draft: Draft | None = None) -> Layout:
    return Layout(contents_of(shop()), draft or Draft(), view or View(width=60))


def kinds(found: Layout) -> str:
    letters = {"file": "F", "head": "H", "line": ".", "pair": "=", "gap": " ", "info": "i", "note": "n"}
    return "".join(letters.get(found.row(y).kind, found.row(y).kind[0]) for y in range(found.total))


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        (View(width=60), "FH........H.. FH... FHi"),
        (View(width=60, side=True), "FH======H= FH== FHi"),
        (View(width=60, wrap=True), "FH........H.. FH... FHi"),
        (View(width=24, wrap=True), "FH..............H.. FH....... FHi"),
    ],
)
def test_a_diff_becomes_rows(view: View, rows: str) -> None:
    assert kinds(layout(view)) == rows


def test_rows_are_found_by_number_in_both_directions() -> None:
    found = layout()
    lines = [
        (found.row(y).unit, found.row(y).index, y) for y in range(found.total) if found.row(y).kind == "line"
    ]
    assert [found.top(unit, index) for unit, index, _ in lines] == [y for _, _, y in lines]
    assert [found.top(number) for number in range(4)] == [1, 10, 15, 21]
    assert found.bottom(3) == found.total


def test_comments_stand_below_what_they_are_about() -> None:
    draft = Draft()
    draft.comment(Comment("the hunk", "src/cart.py", "two"))
    draft.comment(Comment("these\nlines", "src/cart.py", "one", 1, 2))
    draft.comment(Comment("the file", "docs/guide.md"))
    assert kinds(layout(draft=draft)) == "FH...nn.....H..n FnH... FHi"


def test_an_edit_is_shown_below_the_lines_it_replaces() -> None:
    draft = Draft()
    draft.edit("two", "a = 3\nb = 4\n")
    found = layout(draft=draft)
    assert [found.row(y).text for y in range(found.total) if found.row(y).kind == "edit"] == [
        "a = 3",
        "b = 4",
    ]


def test_what_is_decided_can_be_hidden_with_its_file() -> None:
    draft = Draft()
    draft.decide(["two", "three"], "accept")
    assert kinds(layout(View(width=60, hide=True), draft)) == "FH........ FHi"


def test_only_changed_units_need_to_be_counted_again() -> None:
    draft = Draft()
    found = layout(View(width=60, hide=True), draft)
    draft.decide(["three"], "accept")
    found.refresh([2])
    assert kinds(found) == "FH........H.. FHi"


@pytest.mark.parametrize(
    ("level", "stops"),
    [
        (0, [Stop(0)]),
        (1, [Stop(0, 1, 3), Stop(0, 6, 7)]),
        (2, [Stop(0, 1, 1), Stop(0, 2, 2), Stop(0, 3, 3), Stop(0, 6, 6), Stop(0, 7, 7)]),
    ],
)
def test_a_split_hunk_has_more_stops(level: int, stops: list[Stop]) -> None:
    draft = Draft()
    draft.split("one", level)
    assert layout(draft=draft).stops(0) == stops


def test_parts_have_heads_of_their_own() -> None:
    draft = Draft()
    draft.split("one", 1)
    found = layout(draft=draft)
    heads = [found.row(y) for y in range(found.total) if found.row(y).kind == "part"]
    assert heads == [
        Row("part", 0, 1, 3, text="part 1 of 2"),
        Row("part", 0, 6, 7, text="part 2 of 2"),
    ]


def test_changes_of_white_space_can_be_folded() -> None:
    found = listing(file("a.py", unit("s", "-if x:\n-  y\n+if x :\n+    y\n"), unit("t", "-a\n+b\n", 9)))
    one = desk(found, View(width=60, fold=True))
    assert kinds(one.layout) == "FHH.."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (" --++ ", [(0, 0), (1, 3), (2, 4), (5, 5)]),
        ("-+++", [(0, 1), (-1, 2), (-1, 3)]),
        ("---+", [(0, 3), (1, -1), (2, -1)]),
        ("+ -", [(-1, 0), (1, 1), (2, -1)]),
        ("", []),
    ],
)
def test_lines_stand_opposite_to_each_other(body: str, expected: list[tuple[int, int]]) -> None:
    assert pairs(body) == expected


def test_a_huge_hunk_is_not_built_to_show_one_row() -> None:
    body = "+x\n" * 150_000
    one = desk(listing(file("big.txt", unit("big", body))))
    assert (one.layout.total, one.layout.row(140_000)) == (150_002, Row("line", 0, 139_998))
