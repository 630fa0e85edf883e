from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.foundation.history.retention import DAY, MARK, is_due, remove_tree, sweep

NOW = 1_800_000_000.0
OLD, NEW = NOW - 40 * DAY, NOW - 5 * DAY


def put(root: Path, when: float, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (when, when))


def left(root: Path) -> list[str]:
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir() and p.name != MARK)


def test_old_sessions_go_with_all_that_belongs_to_them(tmp_path: Path) -> None:
    put(
        tmp_path,
        OLD,
        "projects/-p/a.jsonl",
        "projects/-p/a/subagents/agent-a1.jsonl",
        "projects/-p/a/subagents/agent-a1.meta.json",
        "projects/-p/a/tool-results/x.txt",
        "projects/-p/orphan/tool-results/x.txt",
        "projects/-p/memory/MEMORY.md",
        "projects/-p/notes.txt",
        "projects/-p/own/work.txt",
        "projects/-p/b/tool-results/old.txt",
        "projects/-p/b/subagents/agent-a2.jsonl",
        "projects/-empty/c.jsonl",
        "file-history/a/f@v1",
        "file-history/b/f@v1",
        "file-history/gone/f@v1",
        "tasks/a/1.json",
        "plans/old.md",
        "settings.json",
        "history.jsonl",
    )
    put(tmp_path, NEW, "projects/-p/b.jsonl", "projects/-p/b/tool-results/new.txt", "plans/new.md")
    assert sweep(str(tmp_path), NOW, 30, "") == ["c", "a"]
    assert left(tmp_path) == [
        "file-history/b/f@v1",
        "history.jsonl",
        "plans/new.md",
        "projects/-p/b.jsonl",
        "projects/-p/b/subagents/agent-a2.jsonl",
        "projects/-p/b/tool-results/new.txt",
        "projects/-p/memory/MEMORY.md",
        "projects/-p/notes.txt",
        "projects/-p/own/work.txt",
        "settings.json",
    ]
    assert [(tmp_path / name).exists() for name in ("projects/-empty", "tasks/a")] == [False, False]


def test_the_session_of_the_run_stays_however_old(tmp_path: Path) -> None:
    files = ("projects/-p/a.jsonl", "projects/-p/a/tool-results/x.txt", "file-history/a/f@v1", "tasks/a/1")
    put(tmp_path, OLD, *files)
    assert sweep(str(tmp_path), NOW, 30, "a") == []
    assert left(tmp_path) == sorted(files)


@pytest.mark.parametrize(("days", "gone"), [(41, []), (39, ["a"])])
def test_the_age_is_a_matter_of_settings(tmp_path: Path, days: int, gone: list[str]) -> None:
    put(tmp_path, OLD, "projects/-p/a.jsonl")
    assert sweep(str(tmp_path), NOW, days, "") == gone


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    put(outside, OLD, "precious.jsonl", "deep/file.txt")
    put(home, OLD, "projects/-p/a.jsonl", "projects/-p/a/tool-results/x.txt")
    (home / "projects" / "-p" / "a" / "tool-results" / "link").symlink_to(outside)
    (home / "projects" / "-linked").symlink_to(outside)
    (home / "file-history").mkdir()
    (home / "file-history" / "a").symlink_to(outside)
    assert sweep(str(home), NOW, 30, "") == ["a"]
    assert left(outside) == ["deep/file.txt", "precious.jsonl"]
    remove_tree(str(home / "projects" / "-linked"))
    assert left(outside) == ["deep/file.txt", "precious.jsonl"]


def test_it_is_due_once_a_day_and_only_where_there_are_sessions(tmp_path: Path) -> None:
    assert not is_due(str(tmp_path), NOW)
    put(tmp_path, NEW, "projects/-p/a.jsonl")
    assert is_due(str(tmp_path), NOW)
    sweep(str(tmp_path), NOW, 30, "")
    assert (tmp_path / MARK).read_text() == "2027-01-15T08:00:00.000Z"
    os.utime(tmp_path / MARK, (NOW, NOW))
    assert [is_due(str(tmp_path), NOW + seconds) for seconds in (0, DAY - 1, DAY)] == [False, False, True]
