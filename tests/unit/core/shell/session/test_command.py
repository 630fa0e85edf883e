from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from forge.core.shell.session.command import Command, Ended, Output, run, start
from forge.foundation.system.keeping import Keeper, NotStarted
from forge.foundation.system.process import descendants
from unit.core.shell.processes import is_gone
from unit.core.shell.session.places import environment, ran, stopped_when_ready, with_keeper

TERMINAL = pytest.mark.parametrize("terminal", [False, True], ids=["pipes", "terminal"])


@TERMINAL
@pytest.mark.requirement("S2-12")
@pytest.mark.parametrize(
    ("text", "code", "output"),
    [
        ("echo hi", 0, b"hi\n"),
        ("echo out; echo err >&2; echo out2", 0, b"out\nerr\nout2\n"),
        ("exit 7", 7, b""),
        ("set -e; false; echo not reached", 1, b""),
        ("set -u; echo $nosuchvariable", 127, b"/bin/bash: line 1: nosuchvariable: unbound variable\n"),
        ("exec false", 1, b""),
        ("exec echo replaced", 0, b"replaced\n"),
        ("trap 'echo bye' EXIT; echo x", 0, b"x\nbye\n"),
        ("kill -9 $$", 137, b""),
        ("kill -TERM $$", 143, b""),
        ("if (", 2, b"/bin/bash: eval: line 2: syntax error: unexpected end of file\n"),
        ("echo $0 $# $-", 0, b"/bin/bash 0 hBc\n"),
        ("cat <<'EOF'\n$x\nEOF", 0, b"$x\n"),
        ("die() { exit 9; }; die", 9, b""),
        ("yes | head -n 2", 0, b"y\ny\n"),
        ("ulimit -c", 0, b"0\n"),
        ("", 0, b""),
    ],
)
def test_a_command_runs_in_a_fresh_shell(
    tmp_path: Path, text: str, code: int, output: bytes, terminal: bool
) -> None:
    ended = ran(text, tmp_path, terminal=terminal)
    assert (ended.exit_code, ended.output.head, ended.timed_out) == (code, output, False)


@TERMINAL
def test_only_a_terminal_looks_like_one(tmp_path: Path, terminal: bool) -> None:
    ended = ran("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty >/dev/null && echo tty", tmp_path, terminal=terminal)
    assert ended.output.head == (b"tty\n" if terminal else b"")


@pytest.mark.requirement("S2-07")
def test_a_terminal_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    sizes = [ran("stty size", tmp_path, terminal=True).output.head]
    sizes.append(ran("stty size", tmp_path, terminal=True, rows=40, columns=120).output.head)
    assert sizes == [b"24 80\n", b"40 120\n"]


@TERMINAL
def test_directory_and_exported_variables_are_carried_out(tmp_path: Path, terminal: bool) -> None:
    (tmp_path / "a b").mkdir()
    text = "cd 'a b'; export A='x \"$y\" `z` \\\\' B=$'\\x01\\n\\303\\251\\'' C=é; D=no; unset LANG; exit 3"
    ended = ran(text, tmp_path, terminal=terminal)
    carried = environment(tmp_path) | {"A": 'x "$y" `z` \\\\', "B": "\x01\né'", "C": "é"}
    del carried["LANG"]
    assert ended == Ended(3, Output(), str(tmp_path / "a b"), carried, terminal=terminal)


@pytest.mark.parametrize("text", ["cd /; exec true", "cd /; trap : EXIT", "cd /; kill -9 $$"])
def test_a_shell_that_cannot_report_leaves_the_directory_as_it_was(tmp_path: Path, text: str) -> None:
    ended = ran(text, tmp_path)
    assert (ended.cwd, ended.exports) == (str(tmp_path), None)


def test_what_a_command_starts_cannot_write_its_result_nor_give_orders(tmp_path: Path) -> None:
    ended = ran("ls /proc/self/fd | sort -n", tmp_path)
    assert ended.output.head.split() == [b"0", b"1", b"2", b"3"]


@pytest.mark.parametrize("size", [200_000, 1_000_000])
def test_a_command_may_be_as_long_as_it_likes(tmp_path: Path, size: int) -> None:
    ended = ran(f"x='{'é' * (size // 2)}'; echo ${{#x}}", tmp_path)
    assert ended.output.head == b"%d\n" % (size // 2)


@TERMINAL
def test_bytes_arrive_as_they_were_written(tmp_path: Path, terminal: bool) -> None:
    ended = ran("printf 'a\\0b\\xff\\303'; printf '\\251\\n'", tmp_path, terminal=terminal)
    assert ended.output == Output(b"a\0b\xff\xc3\xa9\n", size=7, binary="binary data")


def test_binary_output_is_recognised_and_saved(tmp_path: Path) -> None:
    path = tmp_path / "out"
    ended = ran("printf '\\x89PNG\\r\\n\\x1a\\n\\0\\0'", tmp_path, output_path=str(path))
    assert (ended.output.binary, ended.output.path) == ("PNG image", str(path))
    assert path.read_bytes() == b"\x89PNG\r\n\x1a\n\0\0"


def test_names_need_not_be_text(tmp_path: Path) -> None:
    directory = os.fsencode(tmp_path) + b"/d\xff\xc3\xa9"
    os.mkdir(directory)
    env = environment(tmp_path) | {"V": os.fsdecode(b"\xfe")}
    ended = ran("pwd; printf '%s' \"$V\"; export W=$V", tmp_path, cwd=os.fsdecode(directory), env=env)
    assert ended.output.head == directory + b"\n\xfe"
    assert ended.cwd == os.fsdecode(directory)
    assert ended.exports is not None and os.fsencode(ended.exports["W"]) == b"\xfe"


def test_errors_can_be_collected_apart(tmp_path: Path) -> None:
    for terminal in (False, True):
        ended = ran("echo out; echo err >&2; [ -t 2 ] && echo tty", tmp_path, apart=True, terminal=terminal)
        expected = b"out\ntty\n" if terminal else b"out\n"
        assert (ended.output.head, ended.errors.head) == (expected, b"err\n")


@TERMINAL
@pytest.mark.requirement("S2-08", "S2-34")
def test_long_output_keeps_its_start_and_end_and_goes_to_a_file(tmp_path: Path, terminal: bool) -> None:
    path = tmp_path / "out" / "all.txt"
    ended = ran("yes abcdefg | head -c 3000000", tmp_path, terminal=terminal, output_path=str(path))
    whole = b"abcdefg\n" * 375_000
    half = 1 << 19
    expected = Output(whole[:half], whole[-half:], 3_000_000, 3_000_000 - 2 * half, str(path))
    assert ended.output == expected
    assert path.read_bytes() == whole
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_child_in_the_background_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    async def play(keeper: Keeper) -> tuple[Ended, bool]:
        command = Command("setsid sleep 60 & echo $!", str(tmp_path), environment(tmp_path))
        ended = await run(command, keeper)
        return ended, all(not is_gone_now(pid) for pid in ended.survivors)

    ended, alive = with_keeper(play, own=True)
    assert (ended.exit_code, ended.timed_out, alive) == (0, False, True)
    assert str(ended.survivors[0]) == ended.output.head.decode().strip()
    assert all(is_gone(pid) for pid in ended.survivors), "the end of the keeper ends what is left"


def is_gone_now(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


@TERMINAL
@pytest.mark.requirement("S2-14")
def test_a_command_that_takes_too_long_ends_with_everything_it_started(
    tmp_path: Path, terminal: bool
) -> None:
    text = (
        "trap '' INT TERM; (setsid sleep 61 & echo $!); "
        "setsid sh -c 'sleep 62 & echo $!; echo ready; wait' & sleep 63"
    )
    command = Command(text, str(tmp_path), environment(tmp_path), terminal=terminal, grace=0.05)
    ended = with_keeper(lambda keeper: stopped_when_ready(command, keeper))
    pids = [int(line) for line in ended.output.head.split() if line.isdigit()]
    assert (ended.exit_code, ended.timed_out, len(pids)) == (137, True, 2)
    assert all(is_gone(pid) for pid in pids)


def test_the_time_of_a_command_is_limited(tmp_path: Path) -> None:
    ended = ran("sleep 60", tmp_path, timeout=0.05, grace=1)
    assert (ended.exit_code, ended.timed_out) == (130, True)


@TERMINAL
def test_an_interrupt_comes_before_force(tmp_path: Path, terminal: bool) -> None:
    text = "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.01; done"
    command = Command(text, str(tmp_path), environment(tmp_path), terminal=terminal, grace=5.0)
    ended = with_keeper(lambda keeper: stopped_when_ready(command, keeper))
    assert (ended.exit_code, ended.output.head, ended.timed_out) == (5, b"ready\ninterrupted\n", True)


def test_a_command_that_kills_its_supervisor_ends_too(tmp_path: Path) -> None:
    ended = ran("sleep 64 & echo $! $$; kill -9 $PPID; sleep 65", tmp_path)
    assert (ended.exit_code, ended.timed_out) == (137, False)
    assert [pid for pid in ended.output.head.split() if not is_gone(int(pid))] == []


def test_a_cancelled_command_is_ended(tmp_path: Path) -> None:
    async def play(keeper: Keeper) -> int:
        running = await start(Command("sleep 60", str(tmp_path), environment(tmp_path)), keeper)
        task = asyncio.ensure_future(running.ended(60))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return running.held.pid

    assert is_gone(with_keeper(play))


def test_output_can_be_heard_while_it_comes(tmp_path: Path) -> None:
    heard: list[bytes] = []

    async def play(keeper: Keeper) -> Ended:
        command = Command("echo one; echo two", str(tmp_path), environment(tmp_path))
        running = await start(command, keeper, on_output=heard.append)
        await running.ended(5)
        return await running.result()

    assert with_keeper(play).output.head == b"".join(heard) == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cwd": "/nosuchdirectory"}, "FileNotFoundError: No such file or directory: '/nosuchdirectory'"),
        ({"shell": "/nosuchshell"}, "FileNotFoundError: No such file or directory: '/nosuchshell'"),
    ],
)
def test_a_command_that_cannot_start_says_why(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(NotStarted) as caught:
        ran("echo hi", tmp_path, **changes)
    assert str(caught.value) == message


@pytest.mark.requirement("S2-11")
def test_a_command_gets_pipes_where_there_are_no_terminals(tmp_path: Path) -> None:
    def no_terminal(rows: int, columns: int, *, plain: bool) -> tuple[int, int]:
        raise OSError("out of pty devices")

    async def play(keeper: Keeper) -> Ended:
        command = Command("[ -t 1 ] || echo pipe", str(tmp_path), environment(tmp_path), terminal=True)
        running = await start(command, keeper, opener=no_terminal)
        await running.ended(5)
        return await running.result()

    ended = with_keeper(play)
    assert (ended.output.head, ended.terminal) == (b"pipe\n", False)


def test_many_commands_run_at_once(tmp_path: Path) -> None:
    async def play(keeper: Keeper) -> list[Ended]:
        commands = [Command(f"echo {n}; exit {n}", str(tmp_path), environment(tmp_path)) for n in range(20)]
        return await asyncio.gather(*(run(command, keeper) for command in commands))

    assert [(e.exit_code, e.output.head) for e in with_keeper(play)] == [(n, b"%d\n" % n) for n in range(20)]


def test_commands_leave_no_descriptors_or_processes_behind(tmp_path: Path) -> None:
    async def round_of_commands(keeper: Keeper) -> int:
        for terminal in (True, False):
            command = Command("echo hi", str(tmp_path), environment(tmp_path), terminal=terminal, apart=True)
            await asyncio.gather(*(run(command, keeper) for _ in range(5)))
        assert keeper._process is not None
        return keeper._process.pid

    def counted(pid: int) -> list[int]:
        return [len(os.listdir(f"/proc/{process}/fd")) for process in ("self", pid)]

    async def play(keeper: Keeper) -> None:
        before = counted(await round_of_commands(keeper))
        pid = await round_of_commands(keeper)
        async with asyncio.timeout(5):
            # One supervisor waits for the next command.
            while len(descendants(pid)) > 1 or counted(pid) > before:
                await asyncio.sleep(0)

    with_keeper(play, own=True)


def test_a_keeper_that_was_lost_is_replaced(tmp_path: Path) -> None:
    async def play(keeper: Keeper) -> bytes:
        command = Command("echo $PPID", str(tmp_path), environment(tmp_path))
        await run(command, keeper)
        assert keeper._process is not None
        keeper._process.kill()
        keeper._process.wait()
        return (await run(Command("echo again", str(tmp_path), environment(tmp_path)), keeper)).output.head

    assert with_keeper(play, own=True) == b"again\n"
