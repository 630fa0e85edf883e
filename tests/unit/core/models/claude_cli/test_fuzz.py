from __future__ import annotations

import pytest

import cli_fuzz


@pytest.mark.requirement("S4-15", "S4-17")
@pytest.mark.parametrize("hundred", range(6))
def test_damaged_runs_never_fail_and_always_end_their_steps(hundred: int) -> None:
    for seed in range(hundred * 100, hundred * 100 + 100):
        cli_fuzz.check(seed)
