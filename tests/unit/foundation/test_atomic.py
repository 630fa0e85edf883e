from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.foundation.atomic import read_text, update_text
from forge.foundation.errors import ConfigError
from forge.foundation.system.locks import locked


def test_text_is_replaced_and_nothing_is_left_beside(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    assert update_text(str(file), lambda text: text + " new")
    assert read_text(str(file)) == "old new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_mode_of_an_existing_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    file.chmod(0o640)
    update_text(str(file), lambda _: "new")
    assert file.stat().st_mode & 0o7777 == 0o640


def test_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "settings.json"
    link.symlink_to(target)
    update_text(str(link), lambda _: "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")


def test_target_of_a_dangling_link_is_made(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "later" / "settings.json")
    update_text(str(link), lambda _: "new")
    assert (link.is_symlink(), (tmp_path / "later" / "settings.json").read_text()) == (True, "new")


def test_rest_of_a_crashed_write_is_reused(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.forge-new").write_text("half a fi")
    update_text(str(tmp_path / "a.txt"), lambda _: "new")
    assert (os.listdir(tmp_path), (tmp_path / "a.txt").read_text()) == (["a.txt"], "new")


def test_planted_link_beside_the_file_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    work = tmp_path / "work"
    work.mkdir()
    (work / ".a.txt.forge-new").symlink_to(victim)
    update_text(str(work / "a.txt"), lambda _: "new")
    assert (victim.read_text(), (work / "a.txt").read_text()) == ("precious", "new")


def test_failing_change_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")

    def fail(text: str) -> str:
        raise ValueError(text)

    with pytest.raises(ValueError, match="old"):
        update_text(str(file), fail)
    assert file.read_text() == "old"
    with locked(str(tmp_path), timeout=0):
        pass


def test_path_through_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "a.txt")
    with pytest.raises(ConfigError) as caught:
        update_text(path, lambda _: "new")
    assert str(caught.value) == f"{path}: cannot write: File exists; the file is unchanged"
