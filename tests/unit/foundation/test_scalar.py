from __future__ import annotations

import pytest

from forge.foundation.scalar import as_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.10", "1.10"),
        (True, "true"),
        (False, "false"),
        (10, "10"),
        (1.10, "1.1"),
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (1.5e300, "1.5e+300"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_scalars_look_like_in_the_reference(value: str | float, text: str) -> None:
    assert as_text(value) == text
