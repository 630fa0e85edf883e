from __future__ import annotations

import pytest

from forge.core.amount import human_duration, human_size


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1KB"),
        (1410, "1.4KB"),
        (33_893, "33.1KB"),
        (262_146, "256KB"),
        (5_000_000, "4.8MB"),
        (300 * 1024 * 1024, "300MB"),
        (3 * 1024**3, "3GB"),
    ],
)
def test_sizes_have_one_decimal_at_most(count: int, text: str) -> None:
    assert human_size(count) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(300, "0s"), (500, "1s"), (1000, "1s"), (120_000, "2m 0s"), (61_000, "1m 1s"), (3_603_000, "1h 0m 3s")],
)
def test_durations_are_whole_seconds(milliseconds: float, text: str) -> None:
    assert human_duration(milliseconds) == text
