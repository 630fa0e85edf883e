from __future__ import annotations

from pathlib import Path

import pytest

from review_rounds import round_of_concurrent_edit, round_of_lines, round_of_units


@pytest.mark.requirement("S3-18")
@pytest.mark.parametrize("seed", range(14))
def test_random_decisions_on_random_repositories_are_exact_and_can_be_undone(
    seed: int, tmp_path: Path
) -> None:
    round_of_units(seed, str(tmp_path / "repo"))


@pytest.mark.parametrize("seed", range(8))
def test_random_lines_are_rejected_exactly(seed: int, tmp_path: Path) -> None:
    round_of_lines(seed, str(tmp_path / "repo"))


@pytest.mark.parametrize("seed", range(6))
def test_a_random_edit_in_between_is_never_lost(seed: int, tmp_path: Path) -> None:
    round_of_concurrent_edit(seed, str(tmp_path / "repo"))
