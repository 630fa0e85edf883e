from __future__ import annotations

import pytest

from forge.hosts.diffy.screen.words import Spans, different, only_spaces, partner


@pytest.mark.parametrize(
    ("old", "new", "spans"),
    [
        ("a = 1", "a = 2", (((4, 5),), ((4, 5),))),
        ("def f(x):", "def f(x, y):", ((), ((7, 10),))),
        ("상품을 추가합니다", "상품과 추가합니다", (((0, 3),), ((0, 3),))),
        ("色は赤です", "色は青です", (((2, 3),), ((2, 3),))),
        ("ok 👨‍👩‍👧 fine", "ok 👨‍👩‍👦 fine", (((3, 8),), ((3, 8),))),
        ("same", "same", ((), ())),
        ("completely", "other_words()", ((), ())),
        ("x" * 600, "x" * 599, ((), ())),
        ("a " * 150, "b " * 150, ((), ())),
    ],
)
def test_the_words_that_differ_are_found(old: str, new: str, spans: tuple[Spans, Spans]) -> None:
    assert different(old, new) == spans


@pytest.mark.parametrize(
    ("kinds", "partners"),
    [
        (" --++ ", {1: 3, 2: 4, 3: 1, 4: 2}),
        ("-++", {0: 1, 1: 0, 2: -1}),
        ("--+", {0: 2, 1: -1, 2: 0}),
        ("+-", {0: -1, 1: -1}),
        ("- +", {0: -1, 2: -1}),
    ],
)
def test_a_changed_line_has_the_one_it_replaces(kinds: str, partners: dict[int, int]) -> None:
    assert {index: partner(kinds, index) for index in partners} == partners


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (["a  b"], ["a b"], True),
        (["a", "b"], ["a b"], True),
        (["  x"], ["x\t"], True),
        (["ab"], ["ac"], False),
        (["a"], [], False),
    ],
)
def test_white_space_alone_makes_no_difference(old: list[str], new: list[str], same: bool) -> None:
    assert only_spaces(old, new) is same
