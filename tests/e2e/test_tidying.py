from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import Run, environment, forge

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


def forty_days_ago(path: Path) -> None:
    when = time.time() - 40 * 86_400
    os.utime(path, (when, when))


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    """A project with two sessions of forty days ago."""
    place = tmp_path / "project"
    place.mkdir()
    for name in (ONE, TWO):
        assert talk(home, place, "--session-id", name).code == 0
    for path in (home / ".claude").rglob("*"):
        forty_days_ago(path)
    return place


def talk(home: Path, project: Path, *args: str) -> Run:
    with serve([[{"text": "one"}], [{"text": "two"}]]) as server:
        return forge("-p", "go", *args, cwd=project, env=environment(home, server.url))


def sessions(home: Path) -> set[str]:
    return {path.stem for path in (home / ".claude" / "projects").rglob("*.jsonl")} & {ONE, TWO}


def test_old_sessions_are_deleted_but_not_the_resumed_one(home: Path, project: Path) -> None:
    done = talk(home, project, "--resume", TWO)
    assert (done.code, done.out, done.err, sessions(home)) == (0, "two\n", "", {TWO})


def test_it_happens_once_a_day(home: Path, project: Path) -> None:
    (home / ".claude" / ".last-cleanup").touch()
    assert talk(home, project).code == 0
    assert sessions(home) == {ONE, TWO}


@pytest.mark.parametrize(
    ("where", "settings", "left"),
    [
        ("user", {"cleanupPeriodDays": 60}, {ONE, TWO}),
        ("user", {"cleanupPeriodDays": 39}, set()),
        # A file with a value that is not allowed counts for nothing, and may have asked for more days.
        ("user", {"cleanupPeriodDays": 0}, {ONE, TWO}),
        ("user", {"cleanupPeriodDays": 60, "permissions": {"allow": "all"}}, {ONE, TWO}),
        ("project", {"cleanupPeriodDays": 60}, {ONE, TWO}),
        ("both", {"cleanupPeriodDays": 1}, {ONE, TWO}),
    ],
)
def test_settings_say_how_long_sessions_are_kept(
    home: Path, project: Path, where: str, settings: dict[str, Any], left: set[str]
) -> None:
    if where == "both":
        (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 60}')
    folder = home if where == "user" else project
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude" / "settings.json").write_text(json.dumps(settings))
    assert talk(home, project).code == 0
    assert sessions(home) == left
