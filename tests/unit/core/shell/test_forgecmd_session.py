from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.forgecmd import ACTION as START
from forge.core.shell.forgecmd_session import ACTION as SESSION
from forge.core.shell.guard.grant import Grant
from forge.core.shell.guard.typing import commands_of, typed_lines
from forge.core.shell.history.look import Reader
from forge.core.shell.session.typed import Typing
from unit.core.shell.guard.workshop import granted, guard_of, playing, refused, workshop
from unit.core.tools.context import RecordingContext

PROMPT = "bash --norc --noprofile -i"


async def started(ctx: RecordingContext, command: str, until: str) -> None:
    await granted(ctx, START, command=command, interactive=True)
    told = await granted(ctx, SESSION, action="wait", session="t1", until=until, timeout=5)
    assert "did not happen" not in told


@pytest.mark.requirement("S2-41", "S2-02")
def test_a_program_is_driven_by_keys_and_seen_as_a_screen(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    seen: list[tuple[str, Any]] = []
    guard_of(ctx).focus = lambda name, program: seen.append((name, program.command))

    async def play() -> tuple[str, str]:
        await started(ctx, "echo ready; cat", "ready")
        await granted(ctx, SESSION, action="send", session="t1", keys="hello<Enter>")
        told = await granted(ctx, SESSION, action="wait", session="t1", until="hello\nhello", timeout=5)
        return told, await granted(ctx, SESSION, action="stop", session="t1")

    told, stopped = playing(ctx, play)
    assert told.splitlines()[1:] == ["ready", "hello", "hello"]
    assert told.startswith("[session t1; ")
    assert stopped.startswith("[session t1 ended with exit code ")
    assert seen == [("t1", "echo ready; cat")]


@pytest.mark.requirement("S2-29")
def test_lines_for_a_shell_are_known_before_they_are_sent(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> tuple[list[str], list[str], str, str]:
        await started(ctx, f"PS1='$ ' {PROMPT}", r"\$ $")
        given = {"action": "send", "session": "t1", "keys": "rm -rf /<Enter>"}
        lines = commands_of(given, guard_of(ctx)), commands_of({**given, "action": "screen"}, guard_of(ctx))
        unjudged = await refused(ctx, SESSION, **given)
        grant = Grant("echo ok", lines=("echo ok",))
        await granted(ctx, SESSION, grant, action="send", session="t1", keys="echo ok<Enter>")
        told = await granted(ctx, SESSION, action="wait", session="t1", until="^ok$", timeout=5)
        return *lines, unjudged, told

    lines, none, unjudged, told = playing(ctx, play)
    assert (lines, none) == (["rm -rf /"], [])
    assert unjudged == "The screen has changed in the meantime: look at it and send the keys again."
    assert "did not happen" not in told
    with closing(Reader(guard_of(ctx).setup.history)) as reader:
        commands = [entry.command for entry in reader.recent()]
    assert (commands[0], len(commands)) == ("echo ok", 2)


@pytest.mark.parametrize(
    ("program", "line", "command"),
    [
        ("python3", "print(1)", "python3 -c 'print(1)'"),
        ("node", "x('a')", "node -e 'x('\\''a'\\'')'"),
        ("psql db", "drop table t;", "psql -c 'drop table t;'"),
    ],
)
def test_code_for_an_interpreter_is_judged_as_a_command(
    tmp_path: Path, program: str, line: str, command: str
) -> None:
    ctx = workshop(tmp_path, recorded=False)

    async def play() -> list[str]:
        await started(ctx, "printf '>>> '; cat", ">>> ")
        guard_of(ctx).workplace().programs.find("t1").typing = Typing(program)
        return typed_lines("t1", f"{line.replace('<', '<lt>')}<Enter>", guard_of(ctx))

    assert playing(ctx, play) == [command]


@pytest.mark.requirement("S2-10")
def test_a_password_comes_from_the_user_and_nobody_else_sees_it(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    asked: list[str] = []

    async def type_it(line: str) -> str:
        asked.append(line)
        return "hunter2-secret"

    async def play() -> tuple[str, str, str, str]:
        command = "read -s -p 'Password: ' p; echo; [ $p = hunter2-secret ] && echo right; sleep 9"
        await started(ctx, command, "Password: ")
        shown = await granted(ctx, SESSION, action="screen", session="t1")
        typed = await refused(ctx, SESSION, action="send", session="t1", keys="guess<Enter>")
        nobody = await refused(ctx, SESSION, action="password", session="t1")
        guard_of(ctx).ask_secret = type_it
        await granted(ctx, SESSION, action="password", session="t1")
        right = await granted(ctx, SESSION, action="wait", session="t1", until="right", timeout=5)
        return shown, typed, nobody, right

    shown, typed, nobody, right = playing(ctx, play)
    assert "Do not type it" in shown
    assert typed == "The program asks for a password. Only the user may type it: ask the user."
    assert nobody.startswith("Nobody can type the password here.")
    assert (asked, "right" in right, "hunter2" in right) == (["Password:"], True, False)
    kept = b"".join(p.read_bytes() for p in (tmp_path / "state").rglob("*") if p.is_file())
    assert b"hunter2-secret" not in kept.replace(b"= hunter2-secret ]", b"")


def test_a_program_that_has_ended_says_so_and_is_recorded(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> str:
        await granted(ctx, START, command="echo bye; exit 3", interactive=True)
        return await granted(ctx, SESSION, action="wait", session="t1", until="exit", timeout=5)

    assert playing(ctx, play).startswith("[session t1; ended with exit code 3;")
    with closing(Reader(guard_of(ctx).setup.history)) as reader:
        (entry,) = reader.recent()
    assert (entry.command, entry.exit_code, entry.status) == ("echo bye; exit 3", 3, "error")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"action": "screen", "session": "t9"}, "No program has the id 't9'; running: none."),
        ({"action": "output", "id": 99}, "No command of this session has the id 99."),
    ],
)
def test_what_does_not_exist_is_said(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    ctx = workshop(tmp_path)

    async def play() -> str:
        await granted(ctx, START, command="true")
        return await refused(ctx, SESSION, **given)

    assert playing(ctx, play) == told


def test_a_terminal_gets_another_size(tmp_path: Path) -> None:
    ctx = workshop(tmp_path, recorded=False)

    async def play() -> str:
        await started(ctx, "trap 'stty size' WINCH; echo ready; while :; do read -t 5 x; done", "ready")
        await granted(ctx, SESSION, action="resize", session="t1", rows=30, columns=100)
        return await granted(ctx, SESSION, action="wait", session="t1", until="30 100", timeout=5)

    assert "did not happen" not in playing(ctx, play)
