from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from forge.core.shell.session.command import Command, run
from forge.core.shell.trash import Item, NotRestored, Trash
from forge.foundation.system.keeping import Keeper
from unit.core.shell.session.places import environment, with_keeper


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(p.relative_to(root)): (
            os.readlink(p) if p.is_symlink() else p.read_text() if p.is_file() else "",
            p.lstat().st_mode,
        )
        for p in sorted(root.rglob("*"))
    }


def test_a_deleted_directory_comes_back_as_it_was(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "src" / "deep").mkdir(parents=True)
    (work / "src" / "deep" / "a.txt").write_text("a")
    (work / "src" / "run.sh").write_text("b")
    (work / "src" / "run.sh").chmod(0o755)
    (work / "src" / "link").symlink_to("deep/a.txt")
    os.mkfifo(work / "pipe")
    before = tree(work / "src")
    trash = Trash(str(tmp_path / "trash"))
    kept = trash.keep([str(work / "src"), str(work / "nothing")], "rm -rf src")
    shutil.rmtree(work / "src")
    assert kept.items == (Item(str(work / "src"), "0"), Item(str(work / "nothing")))
    assert trash.restore(kept.id) == [str(work / "src")]
    assert tree(work / "src") == before


def test_what_is_there_now_is_replaced_only_on_request(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    trash = Trash(str(tmp_path / "trash"))
    kept = trash.keep([str(file)], "echo new > file")
    file.write_text("new")
    with pytest.raises(NotRestored, match="restore with overwrite"):
        trash.restore(kept.id)
    assert (trash.restore(kept.id, overwrite=True), file.read_text()) == ([str(file)], "old")
    with pytest.raises(NotRestored, match="Nothing was kept under 'x'"):
        trash.restore("x")


def test_what_is_too_large_is_named_and_left_out(tmp_path: Path) -> None:
    for name in ("small", "large"):
        (tmp_path / name).write_text(name * (1 if name == "small" else 100))
    trash = Trash(str(tmp_path / "trash"))
    kept = trash.keep([str(tmp_path / "large"), str(tmp_path / "small")], "rm *", most=100)
    assert (kept.left_out, kept.items) == ((str(tmp_path / "large"),), (Item(str(tmp_path / "small"), "0"),))


def test_old_copies_are_removed(tmp_path: Path) -> None:
    now = [1000.0]
    trash = Trash(str(tmp_path / "trash"), clock=lambda: now[0])
    first = trash.keep([], "one")
    now[0] += 40 * 86_400
    second = trash.keep([], "two")
    assert [entry.id for entry in trash.entries()] == [second.id, first.id]
    assert (trash.prune(), trash.entries()) == (1, [second])
    assert (os.stat(tmp_path / "trash" / second.id).st_mode & 0o777) == 0o700


def test_tracked_files_come_back_after_a_hard_reset(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    env = environment(tmp_path)

    async def play(keeper: Keeper) -> tuple[str, str]:
        async def git(text: str) -> str:
            ended = await run(Command(text, str(work), env), keeper)
            assert ended.exit_code == 0, ended.output.text()
            return ended.output.text()

        identity = "git config user.email x@y; git config user.name x"
        await git(f"git init -q; {identity}; echo one > f; git add f; git commit -qm one; echo two > f")
        trash = Trash(str(tmp_path / "trash"))
        kept = await trash.keep_repository(trash.keep([], "git reset --hard"), str(work), env, keeper)
        await git("git reset -q --hard; git gc -q --prune=now")
        lost = (work / "f").read_text()
        assert [entry.commit for entry in trash.entries()] == [kept.commit]
        await trash.restore_repository(kept, env, keeper)
        return lost, (work / "f").read_text()

    assert with_keeper(play) == ("one\n", "two\n")


def test_outside_a_repository_nothing_more_is_kept(tmp_path: Path) -> None:
    trash = Trash(str(tmp_path / "trash"))
    kept = trash.keep([], "rm x")
    env = environment(tmp_path)
    assert with_keeper(lambda keeper: trash.keep_repository(kept, str(tmp_path), env, keeper)) == kept
