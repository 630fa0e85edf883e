from __future__ import annotations

from pathlib import Path

import pytest

import crash


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    return crash.scenario(tmp_path_factory.mktemp("scenario") / "thirty-calls.json")


def test_a_session_that_is_left_alone_finishes(tmp_path: Path, script: str) -> None:
    assert crash.run_and_kill(tmp_path, script, None) == 20
    assert crash.damage(tmp_path) == []


@pytest.mark.parametrize("moment", crash.moments(6, 450, seed=7), ids=lambda ms: f"{ms:.0f}ms")
def test_a_session_killed_at_any_moment_leaves_nothing_broken(
    tmp_path: Path, script: str, moment: float
) -> None:
    crash.run_and_kill(tmp_path, script, moment)
    assert crash.damage(tmp_path) == []
    assert crash.resumes(tmp_path, script)
