from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.foundation.watch import ADD, CHANGE, UNLINK
from forge.foundation.watched import Watched


def watched(*paths: Path) -> Watched:
    made = Watched()
    made.watch(map(str, paths))
    return made


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.requirement("S1-102")
def test_files_are_added_changed_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    made = watched(file)
    steps = []
    write(file, "1")
    steps.append(made.changes())
    write(file, "22")
    steps.append(made.changes())
    file.chmod(0o600)
    file.read_text()
    steps.append(made.changes())
    file.unlink()
    steps.append(made.changes())
    name = str(file)
    assert steps == [[(name, ADD)], [(name, CHANGE)], [], [(name, UNLINK)]]


def test_what_is_there_at_the_start_is_no_news(tmp_path: Path) -> None:
    write(tmp_path / "a", "1")
    assert watched(tmp_path / "a").changes() == []


@pytest.mark.requirement("S1-66")
def test_a_file_put_over_another_is_a_change(tmp_path: Path) -> None:
    write(tmp_path / "a", "1")
    made = watched(tmp_path / "a")
    write(tmp_path / "new", "1")
    os.replace(tmp_path / "new", tmp_path / "a")
    assert made.changes() == [(str(tmp_path / "a"), CHANGE)]


@pytest.mark.requirement("S1-70")
def test_a_directory_is_watched_with_everything_below_it(tmp_path: Path) -> None:
    made = watched(tmp_path / "skills")
    assert made.folders() == {str(tmp_path)}
    write(tmp_path / "skills" / "one" / "SKILL.md", "x")
    write(tmp_path / "skills" / "node_modules" / "x", "x")
    assert made.changes() == [(str(tmp_path / "skills/one/SKILL.md"), ADD)]
    assert made.folders() == {str(tmp_path / p) for p in ("", "skills", "skills/one")}


def test_a_directory_that_is_gone_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "d" / "a"
    write(file, "1")
    made = watched(file)
    file.unlink()
    file.parent.rmdir()
    assert (made.changes(), made.folders()) == ([(str(file), UNLINK)], {str(tmp_path)})
    write(file, "1")
    assert (made.changes(), made.folders()) == ([(str(file), ADD)], {str(file.parent)})


@pytest.mark.requirement("S1-68")
def test_a_link_is_followed_to_its_target(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a", "1")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a")
    made = watched(tmp_path / "link")
    assert made.folders() == {str(tmp_path), str(tmp_path / "real")}
    write(tmp_path / "real" / "a", "22")
    assert made.changes() == [(str(tmp_path / "link"), CHANGE)]


def test_other_paths_can_be_watched_later(tmp_path: Path) -> None:
    write(tmp_path / "a", "1")
    made = watched(tmp_path / "a")
    write(tmp_path / "a", "22")
    made.watch([str(tmp_path / "a"), str(tmp_path / "b")])
    write(tmp_path / "b", "1")
    found = made.changes()
    made.watch([str(tmp_path / "b")])
    assert found == [(str(tmp_path / "a"), CHANGE), (str(tmp_path / "b"), ADD)]
    assert made.changes() == []


def test_a_name_no_file_can_have_is_just_not_there() -> None:
    assert watched(Path("/nowhere/a\0b")).changes() == []
