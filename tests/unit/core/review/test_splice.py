from __future__ import annotations

import itertools
import random

import pytest

from forge.core.review.choose import Choice
from forge.core.review.hunks import split_lines
from forge.core.review.model import Unit, blocks
from forge.core.review.pairing import in_order
from forge.core.review.repository import Refused
from forge.core.review.splice import check, line_end, without
from review_world import changed_content, random_content


def unit_of(old: bytes, new: bytes) -> Unit:
    """A hunk over two whole contents, without looking for common lines."""
    olds, news = split_lines(old), split_lines(new)
    lines = tuple([b"-" + line for line in olds] + [b"+" + line for line in news])
    return Unit("u", "text", min(len(olds), 1), len(olds), min(len(news), 1), len(news), lines)


def spliced(unit: Unit, old: bytes, new: bytes, **choice: frozenset[int] | bytes) -> bytes:
    chosen = Choice("reject", **choice)  # type: ignore[arg-type]  # the callers name real fields
    return without(split_lines(new), split_lines(old), [unit], {"u": chosen})


CASES = {
    # (old, new, rejected lines, result)
    "all": (b"a\nb\n", b"A\nB\n", {0, 1, 2, 3}, b"a\nb\n"),
    "none": (b"a\nb\n", b"A\nB\n", set(), b"A\nB\n"),
    "one removed line comes back": (b"x = 1\ny = 2\n", b"", {1}, b"y = 2\n"),
    "one added line goes": (b"", b"x = 1\ny = 2\n", {0}, b"y = 2\n"),
    "a pair goes back to its place": (
        b"alpha one\nbeta two\n",
        b"alpha ONE\nbeta TWO\n",
        {0, 2},
        b"alpha one\nbeta TWO\n",
    ),
    "the other pair": (b"alpha one\nbeta two\n", b"alpha ONE\nbeta TWO\n", {1, 3}, b"alpha ONE\nbeta two\n"),
    "both of a pair are kept": (b"alpha one\n", b"alpha ONE\n", {0}, b"alpha one\nalpha ONE\n"),
    "neither of a pair": (b"alpha one\nz\n", b"alpha ONE\nz\n", {2}, b"z\n"),
    "no line end before another line": (b"a b\nc d", b"a b\nc D\n", {1}, b"a b\nc d\nc D\n"),
    "the file's own line end": (b"a b\r\nc d", b"a b\r\nc D\r\n", {1}, b"a b\r\nc d\r\nc D\r\n"),
    "the last line may lack it": (b"a b\nc d", b"a b\nc D\n", {1, 3}, b"a b\nc d"),
}


@pytest.mark.parametrize("name", CASES)
def test_lines_are_rejected_one_by_one(name: str) -> None:
    old, new, rejected, expected = CASES[name]
    assert spliced(unit_of(old, new), old, new, rejected=frozenset(rejected)) == expected


def test_an_added_line_before_a_pair_stays_before_it() -> None:
    old, new = b"call(one, two)\n", b"brand new\ncall(one, 2)\n"
    assert spliced(unit_of(old, new), old, new, rejected=frozenset({0, 2})) == b"brand new\ncall(one, two)\n"


def test_every_choice_of_lines_keeps_order_and_loses_no_line() -> None:
    rng = random.Random(7)
    for _ in range(40):
        old = b"".join(rng.choice((b"a b\n", b"c d\n", b"e\n")) for _ in range(rng.randrange(4)))
        new = b"".join(rng.choice((b"a B\n", b"c d\n", b"f\n")) for _ in range(rng.randrange(4)))
        unit = unit_of(old, new)
        for size in range(len(unit.lines) + 1):
            for chosen in itertools.combinations(range(len(unit.lines)), size):
                result = split_lines(spliced(unit, old, new, rejected=frozenset(chosen)))
                removed = [
                    line[1:] for at, line in enumerate(unit.lines) if line[:1] == b"-" and at in chosen
                ]
                kept = [ln[1:] for at, ln in enumerate(unit.lines) if ln[:1] == b"+" and at not in chosen]
                assert sorted(result) == sorted(removed + kept)
                assert _is_merge(result, removed, kept)


def _is_merge(result: list[bytes], one: list[bytes], other: list[bytes]) -> bool:
    if not result:
        return not one and not other
    return bool(
        (one and one[0] == result[0] and _is_merge(result[1:], one[1:], other))
        or (other and other[0] == result[0] and _is_merge(result[1:], one, other[1:]))
    )


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (b"mine\n", b"mine\n"),
        (b"", b""),
        (b"two\nlines", b"two\nlines"),
    ],
)
def test_an_edit_takes_the_place_of_the_new_lines(edit: bytes, expected: bytes) -> None:
    assert spliced(unit_of(b"a\n", b"b\n"), b"a\n", b"b\n", edit=edit) == expected


def test_an_edit_gets_the_line_ends_of_its_file() -> None:
    old, new = b"a\r\n", b"b\r\nc\r\n"
    assert spliced(unit_of(old, new), old, new, edit=b"x\ny\n") == b"x\r\ny\r\n"


def test_contents_that_are_not_those_of_the_hunks_are_refused() -> None:
    unit = unit_of(b"a\n", b"b\n")
    check([b"b\n"], [b"a\n"], [unit])
    with pytest.raises(Refused):
        check([b"c\n"], [b"a\n"], [unit])


def test_lines_are_paired_by_similarity_in_order() -> None:
    lines = (
        b"-def f(a, b):\n",
        b"-    return a\n",
        b"+# note\n",
        b"+def f(a, b, c):\n",
        b"+    return a + c\n",
    )
    assert in_order(lines, range(5)) == [2, 0, 3, 1, 4]


def test_large_runs_are_ordered_in_linear_time() -> None:
    lines = tuple([b"-x\n"] * 20_000 + [b"+y\n"] * 20_000)
    assert sorted(in_order(lines, range(40_000))) == list(range(40_000))


@pytest.mark.parametrize(
    ("lines", "end"),
    [([], b""), ([b"a"], b""), ([b"a\n", b"b\r\n"], b"\n"), ([b"a\r\n", b"b\r\n", b"c\n"], b"\r\n")],
)
def test_the_line_end_of_a_file_is_that_of_most_lines(lines: list[bytes], end: bytes) -> None:
    assert line_end(lines) == end


def test_blocks_are_runs_of_changed_lines() -> None:
    lines = (b" a\n", b"-b\n", b"+c\n", b" d\n", b"+e\n")
    assert blocks(Unit("u", "text", lines=lines)) == [range(1, 3), range(4, 5)]


def test_random_contents_come_back_whole() -> None:
    rng = random.Random(3)
    for _ in range(50):
        old = random_content(rng)
        new = changed_content(rng, old)
        unit = unit_of(old, new)
        everything = frozenset(range(len(unit.lines)))
        assert spliced(unit, old, new, rejected=everything) == old
        assert spliced(unit, old, new, rejected=frozenset()) == new
