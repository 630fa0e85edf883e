from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.agent.known_files import KnownFiles, unchanged
from forge.core.tool import FileStamp

BEFORE, AFTER = 1_000.0, 2_000_000_000.0
WHEN = "2026-11-15T12:00:00.000Z"


def talk(path: Any, name: str = "Read", *, failed: Any = None, **more: Any) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "t", "name": name, "input": {"file_path": path, **more}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "", "is_error": failed}
    return [{"message": {"content": [use]}}, {"message": {"content": [result]}, "timestamp": WHEN}]


def seen(records: list[dict[str, Any]]) -> dict[str, FileStamp]:
    files = KnownFiles()
    assert list(files.watch(records)) == records
    return unchanged(files.found)


@pytest.mark.parametrize(("more", "partial"), [({}, False), ({"offset": 3}, True), ({"limit": 3}, True)])
def test_a_file_that_was_read_and_not_changed_since_is_known(
    tmp_path: Path, more: dict[str, int], partial: bool
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    os.utime(path, (BEFORE, BEFORE))
    stamp = FileStamp(int(BEFORE * 1e9), 1, "", partial)
    read: Any = more
    assert seen(talk(str(path), **read)) == {str(path): stamp}


def test_a_file_that_changed_since_or_is_gone_must_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    os.utime(path, (AFTER, AFTER))
    assert seen([*talk(str(path)), *talk(str(tmp_path / "gone"))]) == {}


@pytest.mark.parametrize(
    "records",
    [
        talk("/etc/hosts", failed=True),
        talk("/etc/hosts", "Bash"),
        talk("relative.txt"),
        talk("/bad\x00name"),
        talk(7),
        [{"message": {"content": [7, {"type": "tool_use", "name": "Read", "input": 5}]}}, {"message": 3}, {}],
    ],
    ids=["failed", "other tool", "relative", "impossible", "wrong type", "damaged"],
)
def test_nothing_else_makes_a_file_known(records: list[dict[str, Any]]) -> None:
    assert seen(records) == {}
