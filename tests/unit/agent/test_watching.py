from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.hooks.port import NOTHING, Block, Outcome
from forge.agent.lookout import Lookout, look_out, stop_looking, went_elsewhere
from forge.agent.session import Session
from forge.agent.watching import AT_ONCE, Watching, matcher_names
from forge.foundation.atomic import update_text
from forge.foundation.own_writes import hear_own_writes
from forge.foundation.system.notify import Notifier, open_notifier
from forge.foundation.watch import Timing

QUICK = Timing(settle=0.02, longest=0.1, grace=0.1, cooldown=0.05)


class Heard:
    """Hooks that only listen; `answers` says what they want, by event."""

    def __init__(self, **answers: Outcome) -> None:
        self.answers = answers
        self.events: list[dict[str, Any]] = []
        self.news = asyncio.Event()

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        self.events.append({"hook": event, **payload})
        self.news.set()
        return self.answers.get(event, NOTHING)

    async def wait(self, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(5):
            while len(self.events) < count:
                self.news.clear()
                await self.news.wait()
        return self.events


Opener = Callable[[Callable[[], None]], Notifier | None]
Part = Callable[[Watching, Heard, Session], Awaitable[None]]


def watched(
    cwd: Path, part: Part, names: list[str], sources: list[tuple[str, str]] | None = None, **how: Any
) -> tuple[Heard, list[Any]]:
    """Plays a part while names in `cwd` and sources are watched; what was taken over is returned too."""
    taken: list[Any] = []
    opener: Opener = how.pop("opener", open_notifier)

    async def played() -> Heard:
        heard = Heard(**how)
        s = session(ScriptedModel([]), RecordingHost(), [], hooks=heard, cwd=str(cwd))
        watching = Watching(
            s, sources or [], lambda *what: taken.append(what), timings=(QUICK, QUICK), notifier=opener
        )
        watching.begin(names, [])
        try:
            await part(watching, heard, s)
        finally:
            await watching.close()
        return heard

    return asyncio.run(played()), taken


def changed(path: Path, event: str) -> dict[str, Any]:
    return {"hook": "FileChanged", "file_path": str(path), "event": event}


@pytest.mark.requirement("S1-102", "S1-105", "S1-106")
def test_files_that_come_change_and_go_are_told(tmp_path: Path) -> None:
    file = tmp_path / "w.txt"

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        file.write_text("1")
        await heard.wait(1)
        file.write_text("22")
        await heard.wait(2)
        file.unlink()
        await heard.wait(3)

    heard, _ = watched(tmp_path, part, ["w.txt"])
    assert heard.events == [changed(file, "add"), changed(file, "change"), changed(file, "unlink")]


class Full:
    """A system that follows no more directories."""

    def follow(self, folders: Iterable[str]) -> bool:
        return False

    def close(self) -> None:
        pass


@pytest.mark.requirement("S1-72")
@pytest.mark.parametrize("opener", [lambda wake: None, lambda wake: Full()], ids=["none", "full"])
def test_where_the_system_tells_nothing_one_looks(tmp_path: Path, opener: Opener) -> None:
    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        (tmp_path / "w.txt").write_text("1")
        await heard.wait(1)

    heard, _ = watched(tmp_path, part, ["w.txt"], opener=opener)
    assert heard.events == [changed(tmp_path / "w.txt", "add")]


def test_two_hundred_files_at_once_are_two_hundred_events(tmp_path: Path) -> None:
    files = [tmp_path / f"f{n}" for n in range(200)]
    for file in files:
        file.write_text("0")

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        for file in files:
            file.write_text("changed")
        await heard.wait(200)

    heard, _ = watched(tmp_path, part, [file.name for file in files])
    assert sorted(e["file_path"] for e in heard.events) == sorted(map(str, files))


def test_only_so_many_changes_are_told_at_a_time(tmp_path: Path) -> None:
    most = 0

    class Slow(Heard):
        async def fire(self, event: str, /, **payload: Any) -> Outcome:
            nonlocal most
            waiting.append(event)
            most = max(most, len(waiting))
            await super().fire(event, **payload)
            await asyncio.sleep(0)
            waiting.pop()
            return NOTHING

    waiting: list[str] = []

    async def played() -> None:
        heard = Slow()
        s = session(ScriptedModel([]), RecordingHost(), [], hooks=heard, cwd=str(tmp_path))
        watching = Watching(s, [], lambda *what: None, timings=(QUICK, QUICK))
        watching.begin([f"f{n}" for n in range(60)], [])
        for n in range(60):
            (tmp_path / f"f{n}").write_text("1")
        await heard.wait(60)
        await watching.close()

    asyncio.run(played())
    assert 1 <= most <= AT_ONCE


def test_a_removed_directory_that_comes_back_is_still_watched(tmp_path: Path) -> None:
    file = tmp_path / "d" / "w.txt"
    file.parent.mkdir()
    file.write_text("1")

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        file.unlink()
        file.parent.rmdir()
        await heard.wait(1)
        file.parent.mkdir()
        file.write_text("1")
        await heard.wait(2)
        file.write_text("22")
        await heard.wait(3)

    heard, _ = watched(tmp_path, part, ["d/w.txt"])
    assert [e["event"] for e in heard.events] == ["unlink", "add", "change"]


@pytest.mark.requirement("S1-66")
def test_an_editor_that_replaces_the_file_has_changed_it(tmp_path: Path) -> None:
    file, beside = tmp_path / "w.txt", tmp_path / "w.txt~"
    file.write_text("1")

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        os.rename(file, beside)
        file.write_text("2")
        beside.unlink()
        await heard.wait(1)

    heard, _ = watched(tmp_path, part, ["w.txt"])
    assert heard.events == [changed(file, "change")]


@pytest.mark.requirement("S1-107", "S1-108")
def test_hooks_may_name_other_files_to_watch(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "deep" / "b"

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        first.write_text("1")
        await heard.wait(1)
        second.parent.mkdir()
        second.write_text("1")
        await heard.wait(2)

    answer = Outcome(watch=[str(second)])
    heard, _ = watched(tmp_path, part, ["a"], FileChanged=answer)
    assert heard.events == [changed(first, "add"), changed(second, "add")]


def test_names_follow_the_directory_of_the_session(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        s.situation = s.situation.changed(cwd=str(tmp_path / "sub"))
        watching.moved()
        (tmp_path / "a").write_text("1")
        (tmp_path / "sub" / "a").write_text("1")
        await heard.wait(1)

    heard, _ = watched(tmp_path, part, ["a"])
    assert heard.events == [changed(tmp_path / "sub" / "a", "add")]


@pytest.mark.requirement("S1-69", "S1-71")
@pytest.mark.parametrize(
    ("source", "blocked", "wanted"),
    [
        ("project_settings", False, True),
        ("project_settings", True, False),
        ("skills", True, False),
        ("policy_settings", True, True),
    ],
)
def test_a_hook_may_keep_changed_settings_out_except_policy(
    tmp_path: Path, source: str, blocked: bool, wanted: bool
) -> None:
    file = tmp_path / "settings.json"

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        file.write_text("{}")
        await heard.wait(1)
        await asyncio.sleep(0)

    blocks = Outcome(blocks=[Block("x", "no")] if blocked else [])
    heard, taken = watched(tmp_path, part, [], [(source, str(file))], ConfigChange=blocks)
    assert heard.events == [{"hook": "ConfigChange", "source": source, "file_path": str(file)}]
    assert taken == [(source, str(file), wanted)]


@pytest.mark.requirement("S1-65", "S1-68", "S1-73")
def test_what_forge_writes_itself_is_no_change(tmp_path: Path) -> None:
    real, other = tmp_path / "real", tmp_path / "other.json"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    file = tmp_path / "link" / "settings.json"

    async def part(watching: Watching, heard: Heard, s: Session) -> None:
        hear_own_writes().listener = watching.own_write
        update_text(str(file), lambda text: "{}")
        other.write_text("{}")
        await heard.wait(1)

    sources = [("user_settings", str(file)), ("project_settings", str(other))]
    heard, _ = watched(tmp_path, part, [], sources)
    assert [e["file_path"] for e in heard.events] == [str(other)]


@pytest.mark.requirement("S1-104")
@pytest.mark.parametrize(
    ("matchers", "names"),
    [
        (["a.txt|b.txt"], ["a.txt", "b.txt"]),
        ([" a | | b ", "a"], ["a", "b"]),
        (["/abs/x", ""], ["/abs/x"]),
        (["*", "sub/x"], ["sub/x"]),
    ],
)
def test_matchers_name_the_files_to_watch(matchers: list[str], names: list[str]) -> None:
    assert matcher_names(matchers) == names


class Noted:
    """A watcher that notes what it is told."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def also(self, paths: list[str]) -> None:
        self.said.append(paths)

    def moved(self) -> None:
        self.said.append("moved")

    async def close(self) -> None:
        self.said.append("closed")


@pytest.mark.requirement("S1-109")
def test_a_change_of_directory_is_told_once_and_may_name_files() -> None:
    async def played() -> tuple[list[Any], list[Any]]:
        heard, noted = Heard(CwdChanged=Outcome(watch=["/x"])), Noted()
        s = session(ScriptedModel([]), RecordingHost(), [], hooks=heard, cwd="/p/sub")
        s.keep(Lookout).start = lambda paths: noted
        look_out(s, [])
        await went_elsewhere(s, "/p/sub", [])
        await went_elsewhere(s, "/p", ["/p/sub"])
        await went_elsewhere(s, "/p/sub", ["/tmp", "/p/sub"])
        await stop_looking(s)
        look_out(s, ["/y"])
        return heard.events, noted.said

    events, said = asyncio.run(played())
    assert events == [
        {"hook": "CwdChanged", "old_cwd": "/p", "new_cwd": "/p/sub"},
        {"hook": "CwdChanged", "old_cwd": "/p/sub", "new_cwd": "/tmp"},
    ]
    assert said == ["moved", ["/x"], ["/x"], "closed"]
