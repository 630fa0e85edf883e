from __future__ import annotations

import random

import pytest

from forge.foundation.collate import name_order


@pytest.mark.parametrize(
    "ordered",
    [
        ["-x", "a--b", "a-b", "a-b-c", "ab", "B", "c"],
        ["trail", "übung", "uion", "when"],
        ["ops:x", "ops2", "opsa"],
        ["_x", "-x", ".x", "1x", "ax"],
        ["sp ace", "sp-ace", "space"],
        ["a", "A", "á", "b"],
    ],
)
def test_names_are_sorted_as_the_reference_does(ordered: list[str]) -> None:
    shuffled = random.Random(7).sample(ordered, len(ordered))
    assert sorted(shuffled, key=name_order) == ordered
