from __future__ import annotations

import pytest
from rich.cells import cell_len

from forge.core.review.draft import Comment, Draft
from forge.core.review.model import Decision, Unit
from forge.hosts.diffy.screen.paint import Part, crop, styled
from forge.hosts.diffy.screen.rows import View
from forge.hosts.diffy.screen.syntax import Colours
from forge.hosts.diffy.screen.visible import Shown
from unit.hosts.diffy.screen.sheets import desk, file, listing, parts, screen, shop, unit


def test_the_unified_screen_shows_numbers_signs_and_states() -> None:
    assert screen(desk()) == [
        " src/cart.py  modified  +3 −4   ·2",
        "▌· @@ -10,6 +10,5 @@  1 of 4  pending",
        "▌  10 10   def total(items):",
        "▌  11    -     total = 0",
        "▌  12    -     return total",
        "▌     11 +     return sum(items)",
        "▌  13 12",
        "▌  14 13   def clear(items):",
        "▌  15    -     items = []",
        "▌     14 +     items.clear()",
        " · @@ -40,1 +40,1 @@  2 of 4  pending",
        "   40    - a = 1",
        "      40 + a = 2",
        "",
        " docs/guide.md  modified  +1 −1   ·1",
        " · @@ -1,2 +1,2 @@  3 of 4  pending",
        "    1  1   # 가이드",
        "    2    - 장바구니에 상품을 추가합니다.",
        "       2 + 장바구니에 상품과 수량을 추가합니다.",
        "",
        " run.sh  modified    ·1",
        " · mode  4 of 4  pending",
        "         made executable",
    ]


def test_both_sides_stand_beside_each_other() -> None:
    one = desk(view=View(width=80, side=True))
    assert screen(one, 80)[1:8] == [
        "▌· @@ -10,6 +10,5 @@  1 of 4  pending",
        "▌  10   def total(items):               │  10   def total(items):",
        "▌  11 -     total = 0                   │  11 +     return sum(items)",
        "▌  12 -     return total                │",
        "▌  13                                   │  12",
        "▌  14   def clear(items):               │  13   def clear(items):",
        "▌  15 -     items = []                  │  14 +     items.clear()",
    ]


def test_verdicts_are_marked_on_heads_lines_and_files() -> None:
    draft = Draft()
    draft.decide_lines("one", [1, 2, 3, 6, 7], [1, 2, 3], "reject")
    draft.decide(["two"], "accept")
    draft.ask("three", on=True)
    rows = screen(desk(draft=draft))
    assert [rows[at] for at in (0, 1, 3, 5, 8, 10, 12, 14, 15)] == [
        " src/cart.py  modified  +3 −4   ·1 ✓1",
        "▌· @@ -10,6 +10,5 @@  1 of 4  partly decided",
        "▌✗ 11    -     total = 0",
        "▌✗    11 +     return sum(items)",
        "▌  15    -     items = []",
        " ✓ @@ -40,1 +40,1 @@  2 of 4  accepted",
        " ✓    40 + a = 2",
        " docs/guide.md  modified  +1 −1   ?1",
        " ? @@ -1,2 +1,2 @@  3 of 4  asked",
    ]


def test_comments_and_edits_are_shown_in_place() -> None:
    draft = Draft()
    draft.comment(Comment("why\nthis?", "src/cart.py", "two"))
    draft.edit("two", "a = 3\n")
    assert screen(desk(draft=draft))[10:16] == [
        " ✓ @@ -40,1 +40,1 @@  2 of 4  accepted  edited",
        " ✓ 40    - a = 1",
        " ✓    40 + a = 2",
        "         ✎ a = 3",
        "         ┃ why",
        "         ┃ this?",
    ]


def test_a_rule_that_decided_is_named_and_a_comment_that_lost_its_hunk_is_shown() -> None:
    draft = Draft()
    draft.take_rules([Decision("two", "accept", by="lock")])
    draft.comment(Comment("rename it", "docs/guide.md", "gone"))
    rows = screen(desk(draft=draft))
    assert [rows[10], *rows[14:16]] == [
        " ✓ @@ -40,1 +40,1 @@  2 of 4  accepted by the rule lock",
        " docs/guide.md  modified  +1 −1   ·1",
        "         ┃ outdated: rename it",
    ]


@pytest.mark.parametrize("width", [20, 37, 60, 80, 121, 200])
@pytest.mark.parametrize("view", [View(), View(side=True), View(wrap=True), View(side=True, wrap=True)])
def test_every_row_fills_exactly_its_columns(view: View, width: int) -> None:
    odd = "-\t한글\x1b[0m 👨‍👩‍👧 🇰🇷\u202e caf\udce9\n+\t한국어 ❤️ 1️⃣ " + "긴" * 90 + "\n"
    one = desk(listing(*shop().files, file("odd.txt", unit("odd", odd))))
    one.show(width=width, side=view.side, wrap=view.wrap)
    one.find("한")
    widths = {
        sum(cell_len(text) for text, _ in parts(one, number, width)) for number in range(one.layout.total)
    }
    assert widths == {width}


def test_changed_words_and_found_words_stand_out() -> None:
    one = desk()
    one.find("a")
    old, new = parts(one, 11), parts(one, 12)
    assert old[1:] == [
        (" - ", ("del", "rejected")),
        ("a", ("del", "found")),
        (" = ", ("del",)),
        ("1", ("del", "del_word")),
        (" " * 44, ("del",)),
    ]
    assert new[-2] == ("2", ("add", "add_word"))


def test_what_is_rejected_fades_and_loses_its_colours() -> None:
    draft = Draft()
    draft.decide(["two"], "reject")
    one = desk(draft=draft)
    one.scene.colours = Colours()
    assert parts(one, 12)[-2:] == [("a = 2", ("add", "dropped")), (" " * 44, ("add", "dropped"))]


def test_hidden_characters_are_announced_and_shown() -> None:
    one = desk(listing(file("a.py", unit("bad", "+x = 'a\u202eb'\n"))))
    rows = screen(one)
    assert rows[1:] == [
        "▌· @@ -1,0 +1,1 @@  1 of 1  pending   hidden characters",
        "▌    1 + x = 'a<U+202E>b'",
    ]


def test_a_missing_line_end_is_shown() -> None:
    lines = (b"-x\n", b"+x")
    one = desk(listing(file("a", Unit("eof", "text", 1, 1, 1, 1, lines))))
    assert screen(one)[3] == "▌    1 + x ⊘ no newline at end"


def test_long_lines_can_be_shifted_and_wrapped() -> None:
    one = desk(listing(file("a", unit("long", "+" + "0123456789" * 6 + "\n"))))
    one.scene.shift = 8
    shifted = screen(one, 40)[2]
    one.show(wrap=True, width=40)
    assert (shifted, screen(one, 40)[2:]) == (
        "▌    1 + 8901234567890123456789012345678",
        ["▌    1 + 0123456789012345678901234567890", "▌        12345678901234567890123456789"],
    )


@pytest.mark.parametrize(
    ("start", "width", "expected"),
    [
        (0, 6, [("ab", ("x",)), ("가", ("y",)), ("  ", ("y",))]),
        (1, 3, [("b", ("x",)), ("가", ("y",))]),
        (0, 3, [("ab", ("x",)), (" ", ("y",))]),
        (3, 2, [(" ", ("y",)), (" ", ("y",))]),
        (9, 2, [("  ", ("y",))]),
    ],
)
def test_a_wide_character_is_never_cut_in_half(start: int, width: int, expected: list[Part]) -> None:
    assert crop([("ab", ("x",)), ("가", ("y",))], start, width) == expected


def test_later_styles_lie_over_earlier_ones() -> None:
    text = Shown("abcdef", None, ((4, 5),))
    assert styled(text, [(0, 4, "kw"), (2, 6, "word")], ("add",)) == [
        ("ab", ("add", "kw")),
        ("cd", ("add", "kw", "word")),
        ("e", ("add", "word", "hidden")),
        ("f", ("add", "word")),
    ]


def test_of_an_endless_line_only_the_beginning_is_shown() -> None:
    one = desk(listing(file("a.txt", unit("long", "+" + "x" * 100_000 + "\n"))), View(width=60, wrap=True))
    rows = screen(one)
    assert (len(rows), rows[-1]) == (81, "▌        " + "x" * 22 + " … 96000 more characters"[:29])


def test_the_words_of_a_long_line_are_compared_as_a_whole() -> None:
    tail = " and so on" * 30
    one = desk(listing(file("a.txt", unit("u", f"-one{tail}\n+two{tail}\n"))))
    assert [names for _, names in parts(one, 2, 40)[4:]] == [("del", "del_word"), ("del",)]
