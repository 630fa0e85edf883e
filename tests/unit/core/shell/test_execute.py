from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.execute import Command, Outcome, execute
from unit.core.shell.processes import is_gone

BASH = "/bin/bash"


def command(text: str, directory: Path, **changes: Any) -> Command:
    given = {"shell": BASH, "cwd": str(directory), "env": dict(os.environ), "timeout": 5.0, **changes}
    return Command(text=text, output_path=str(directory / "out" / "all.txt"), **given)


def run(text: str, directory: Path, **changes: Any) -> Outcome:
    return asyncio.run(execute(command(text, directory, **changes)))


@pytest.mark.requirement("S2-12")
@pytest.mark.parametrize(
    ("text", "code", "output"),
    [
        ("echo hi", 0, b"hi\n"),
        ("echo out; echo err >&2; echo out2", 0, b"out\nerr\nout2\n"),
        ("exit 3", 3, b""),
        ("echo x; false", 1, b"x\n"),
        ("kill -9 $$", 137, b""),
        ("kill -TERM $$", 143, b""),
        ("nosuchprogram", 127, b"/bin/bash: line 1: nosuchprogram: command not found\n"),
        ("if (", 2, b"/bin/bash: eval: line 2: syntax error: unexpected end of file\n"),
        ("cat; read x || echo none", 0, b"none\n"),
        ("[ -t 0 ] || [ -t 1 ] || echo no terminal", 0, b"no terminal\n"),
        ("echo $0 $# $-", 0, b"/bin/bash 0 hBc\n"),
        ("printf 'a\\0b\\xff'", 0, b"a\0b\xff"),
        ("echo 'it'\\''s'; echo \"$HOME\" | wc -l", 0, b"it's\n1\n"),
        ("cat <<'EOF'\n$x\nEOF", 0, b"$x\n"),
        ("echo a \\", 0, b"a \\\n"),
        ("echo a # comment", 0, b"a\n"),
        ("set -e; false; echo not reached", 1, b""),
        ("set -u; echo $nosuchvariable", 127, b"/bin/bash: line 1: nosuchvariable: unbound variable\n"),
        ("exec echo replaced", 0, b"replaced\n"),
        ("trap 'echo bye' EXIT; echo x", 0, b"x\nbye\n"),
        ("alias hey='echo alias'\nhey", 0, b"alias\n"),
        ("", 0, b""),
    ],
)
def test_a_command_runs_in_a_fresh_shell_without_input(
    tmp_path: Path, text: str, code: int, output: bytes
) -> None:
    outcome = run(text, tmp_path)
    assert (outcome.exit_code, outcome.head, outcome.tail, outcome.size) == (code, output, b"", len(output))
    assert not outcome.timed_out


@pytest.mark.requirement("S2-12")
@pytest.mark.parametrize(
    ("text", "ends_in"),
    [
        ("cd sub", "sub"),
        ("cd sub; false", "sub"),
        ("cd link", "sub"),
        ("cd 'sp ace'", "sp ace"),
        ("mkdir $'new\\nline'; cd new*", "new\nline"),
        ("(cd sub)", "."),
        ("cd sub; cd ..", "."),
        ("echo /elsewhere >&2; echo /elsewhere", "."),
        ("cd sub; set -x", "sub"),
        ("cd sub; trap 'cd /; echo /fake >&11 2>/dev/null' EXIT", "sub"),
        ("cd sub; exec 2>/dev/null", "sub"),
        ("cd sub; exit 0", None),
        ("cd sub; exec true", None),
        ("cd sub; set -e; false", None),
        ("mkdir gone; cd gone; rmdir ../gone", None),
    ],
)
def test_the_directory_at_the_end_is_known_without_a_trace(
    tmp_path: Path, text: str, ends_in: str | None
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sp ace").mkdir()
    (tmp_path / "link").symlink_to("sub")
    outcome = run(text, tmp_path)
    expected = "" if ends_in is None else os.path.normpath(os.path.join(os.path.realpath(tmp_path), ends_in))
    assert outcome.cwd == expected
    assert b"forge" not in outcome.head.replace(bytes(tmp_path), b"")


def test_the_command_cannot_write_the_note_about_the_directory(tmp_path: Path) -> None:
    text = (
        "for fd in /proc/self/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && echo /fake >&$n; done 2>/dev/null; true"
    )
    assert run(text, tmp_path).cwd == os.path.realpath(tmp_path)


def test_a_shell_that_only_knows_the_basics_is_enough(tmp_path: Path) -> None:
    outcome = run('echo "$((1+2))"; cd /; (exit 4)', tmp_path, shell="/bin/sh")
    assert (outcome.exit_code, outcome.head, outcome.cwd) == (4, b"3\n", "/")


def test_a_very_long_command_runs_too(tmp_path: Path) -> None:
    outcome = run(f"x='{'é' * 200_000}'; echo ${{#x}}; pwd", tmp_path)
    assert (outcome.exit_code, outcome.head.split(b"\n")[1]) == (0, bytes(tmp_path))
    assert list((tmp_path / "out").iterdir()) == []


def test_children_in_the_background_do_not_hold_up_the_call(tmp_path: Path) -> None:
    outcome = run("(sleep 30; echo late) & echo $!; echo started", tmp_path)
    pid = int(outcome.head.split()[0])
    assert (outcome.exit_code, outcome.head.endswith(b"started\n")) == (0, True)
    os.kill(pid, 0)
    os.killpg(os.getpgid(pid), 9)


def test_a_child_that_never_stops_printing_does_not_hold_up_the_call(tmp_path: Path) -> None:
    outcome = run("echo $$; yes & true", tmp_path)
    os.killpg(int(outcome.head.split(b"\n")[0]), 9)
    assert outcome.exit_code == 0


def test_children_in_the_background_may_go_on_printing(tmp_path: Path) -> None:
    async def scenario() -> None:
        text = "mkfifo go; (read x < go; echo late; echo done > report) & echo started"
        assert (await execute(command(text, tmp_path))).head == b"started\n"
        os.mkfifo(tmp_path / "report")
        (tmp_path / "go").write_text("now\n")
        assert await asyncio.to_thread((tmp_path / "report").read_text) == "done\n"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "text",
    [
        "echo $$ > pid; echo before; sleep 30",
        "trap '' TERM; echo $$ > pid; echo before; sleep 30 & wait; sleep 30",
        "mkfifo up; setsid sh -c 'echo $$ > pid; echo > up; sleep 30' & read x < up; echo before; wait",
        "(echo $BASHPID > pid; exec sleep 30) & echo before; wait",
    ],
)
def test_at_the_timeout_everything_it_started_is_killed(tmp_path: Path, text: str) -> None:
    for timeout in (0.3, 3.0, 15.0):  # a busy machine gets more time until it has come so far
        outcome = run(f"rm -f up; {text}", tmp_path, timeout=timeout, grace=0.1)
        if outcome.head == b"before\n":
            break
    assert (outcome.timed_out, outcome.head) == (True, b"before\n")
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_cancelling_kills_the_command_and_is_passed_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")

    async def scenario() -> int:
        task = asyncio.ensure_future(execute(command("echo $$ > ready; sleep 30", tmp_path)))
        pid = int(await asyncio.to_thread((tmp_path / "ready").read_text))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    assert is_gone(asyncio.run(scenario()))


def test_long_output_is_kept_in_a_file_with_bounded_memory(tmp_path: Path) -> None:
    outcome = run("seq 1 500000", tmp_path)
    whole = "".join(f"{n}\n" for n in range(1, 500_001)).encode()
    assert (outcome.size, outcome.path) == (len(whole), str(tmp_path / "out" / "all.txt"))
    assert (tmp_path / "out" / "all.txt").read_bytes() == whole
    assert whole.startswith(outcome.head) and whole.endswith(outcome.tail)
    assert len(outcome.head) <= 1 << 20 and len(outcome.tail) == 1 << 16


def test_output_that_fits_needs_no_file(tmp_path: Path) -> None:
    outcome = run("seq 1 1000", tmp_path)
    assert (outcome.path, outcome.tail, list(tmp_path.iterdir())) == ("", b"", [])


def test_a_file_that_cannot_be_written_does_not_stop_the_command(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    outcome = run("seq 1 500000; exit 7", tmp_path)
    assert (outcome.exit_code, outcome.size, outcome.tail[-7:]) == (7, 3_388_895, b"500000\n")
    assert outcome.path == ""


def test_progress_is_reported_while_it_runs(tmp_path: Path) -> None:
    reports: list[str] = []
    text = "echo working; read x < go"
    os.mkfifo(tmp_path / "go")

    def note(report: str) -> None:
        reports.append(report)
        (tmp_path / "go").write_text("stop\n")

    asyncio.run(execute(command(text, tmp_path, progress_every=0.05), on_progress=note))
    assert reports[0] == "working\n"


def test_a_shell_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run("true", tmp_path, shell="/no/such/bash")


def test_many_commands_run_side_by_side(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        outcomes = await asyncio.gather(*(execute(command(f"echo {n}", tmp_path)) for n in range(20)))
        return [outcome.head for outcome in outcomes]

    assert asyncio.run(scenario()) == [b"%d\n" % n for n in range(20)]


def test_no_descriptors_are_left_open(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    run("seq 1 300000; exit 1", tmp_path)
    assert set(os.listdir("/proc/self/fd")) == before
