from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import crash_kinds
import crash_rewind
from crash_kinds import KINDS, Kill
from fakemodel import Server, serve


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serve([]) as running:
        yield running


@pytest.fixture(scope="session")
def scene(server: Server, tmp_path_factory: pytest.TempPathFactory) -> crash_rewind.Scene:
    return crash_rewind.Scene(tmp_path_factory.mktemp("rewind"), server)


@pytest.mark.parametrize(
    ("kind", "kill", "doing"),
    [
        ("compaction", Kill(at_request=4), "compaction"),
        ("compaction", Kill(3, at_request=4), None),
        ("compaction", Kill(at_request=5), "turn"),
        ("agents", Kill(at_request=2), "agent"),
        ("agents", Kill(4, at_request=4), None),
        ("background", Kill(2, at_request=3), None),
    ],
    ids=str,
)
def test_a_session_killed_at_its_work_can_be_gone_on_with(
    tmp_path: Path, server: Server, kind: str, kill: Kill, doing: str | None
) -> None:
    steps = KINDS[kind]()
    watch = crash_kinds.run_and_kill(tmp_path, server, steps, kill)
    assert doing in (None, watch.doing)
    assert crash_kinds.damage(tmp_path, crash_kinds.states(steps)) == []
    assert crash_kinds.resumes(tmp_path, server) == []


@pytest.mark.parametrize("after_ms", [5])
def test_files_rewound_by_a_killed_session_are_whole(scene: crash_rewind.Scene, after_ms: float) -> None:
    scene.restore()
    scene.rewind_alive(1, after_ms)
    assert scene.faults(1) == []


@pytest.mark.parametrize("after_ms", [120])
def test_a_killed_rewind_is_finished_by_the_same_command(scene: crash_rewind.Scene, after_ms: float) -> None:
    scene.restore()
    scene.rewind(2, after_ms)
    assert scene.faults(2) == []
