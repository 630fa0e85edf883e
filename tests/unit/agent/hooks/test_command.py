from __future__ import annotations

import asyncio
import os
import select
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.agent.hooks.answer import Run
from forge.agent.hooks.command import MAX_OUTPUT, Order, run_command
from unit.agent.hooks.making import hook

PYTHON = sys.executable


def run(cwd: Path, command: str, payload: bytes = b"{}\n", timeout: float = 10.0) -> Run:
    order = Order(hook(), ["/bin/sh", "-c", command], str(cwd), os.environ, payload, timeout, grace=0.1)
    return asyncio.run(run_command(order))


def run_too_long(cwd: Path, command: str, note: str) -> tuple[Run, int]:
    """The run and the process id it has noted; a busy machine gets more time until it has."""
    for timeout in (0.2, 2.0, 15.0):
        ended = run(cwd, command, timeout=timeout)
        if (cwd / note).exists() and (text := (cwd / note).read_text()):
            return ended, int(text)
    raise TimeoutError(f"{command} has noted no process")


def seen(ended: Run) -> tuple[Any, ...]:
    return (ended.exit_code, ended.stdout, ended.stderr)


@pytest.mark.requirement("S0-37", "S1-34")
def test_the_payload_arrives_on_stdin_and_then_the_end(tmp_path: Path) -> None:
    assert seen(run(tmp_path, "cat", b'{"a":1}\n')) == (0, '{"a":1}\n', "")


@pytest.mark.requirement("S1-35")
def test_a_hook_that_does_not_read_its_input_is_fine(tmp_path: Path) -> None:
    assert seen(run(tmp_path, "exec 0<&-; echo x >&2; exit 3", b"x" * 5_000_000)) == (3, "", "x\n")


def test_both_outputs_are_kept_in_the_order_they_came(tmp_path: Path) -> None:
    # Where both wait to be read nobody can tell their order, so a busy machine gets longer pauses.
    for pause in (0.05, 0.5, 3):
        ended = run(tmp_path, f"printf a; sleep {pause}; printf b >&2; sleep {pause}; printf c", timeout=30)
        if ended.combined == "abc":
            break
    assert (ended.stdout, ended.stderr, ended.combined) == ("ac", "b", "abc")


@pytest.mark.requirement("S1-36", "S0-32", "S0-40")
def test_a_hook_that_hangs_is_ended_with_its_group(tmp_path: Path) -> None:
    ended, child = run_too_long(tmp_path, "echo early; sleep 60 & echo $! > child; wait", "child")
    assert (ended.timed_out, ended.exit_code) == (True, None)
    assert gone(child)


def test_a_hook_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$ > self; while :; do sleep 0.02; done"
    ended, shell = run_too_long(tmp_path, command, "self")
    assert ended.timed_out
    assert gone(shell)


def test_a_child_that_keeps_the_outputs_open_does_not_hold_the_hook_up(tmp_path: Path) -> None:
    ended = run(tmp_path, "echo done; sleep 60 & echo $! > child", timeout=30)
    os.kill(int((tmp_path / "child").read_text()), 9)
    assert seen(ended) == (0, "done\n", "")
    assert ended.duration_ms < 20_000


def test_an_endless_output_is_read_but_not_kept(tmp_path: Path) -> None:
    ended = run(tmp_path, "head -c 30000000 /dev/zero | tr '\\0' x; echo end >&2")
    assert (ended.exit_code, len(ended.stdout), ended.stderr) == (0, MAX_OUTPUT, "end\n")


def test_output_that_is_no_text_is_replaced(tmp_path: Path) -> None:
    assert seen(run(tmp_path, "printf '\\377a\\000'")) == (0, "�a\0", "")


def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert run(tmp_path, "kill -9 $$").exit_code == -9


@pytest.mark.requirement("S1-37")
def test_a_program_that_is_missing_is_a_failure(tmp_path: Path) -> None:
    order = Order(hook(), ["/nonexistent/x"], str(tmp_path), {}, b"", 5)
    ended = asyncio.run(run_command(order))
    why = "ENOENT: no such file or directory, posix_spawn '/nonexistent/x'"
    assert ended.failure == f"Error occurred while executing hook command: {why}"


def test_a_command_no_system_can_start_is_a_failure(tmp_path: Path) -> None:
    order = Order(hook(), ["/bin/sh", "-c", "a\0b"], str(tmp_path), {}, b"", 5)
    assert asyncio.run(run_command(order)).failure == "Failed to run: embedded null byte: /bin/sh"


def test_a_hook_leads_a_session_without_a_terminal(tmp_path: Path) -> None:
    facts = "import os; p = os.getpid(); print(os.getpgrp() == p, os.getsid(0) == p, end='')"
    assert run(tmp_path, f'exec "{PYTHON}" -c "{facts}"').stdout == "True True"
    tty = run(tmp_path, ": < /dev/tty")
    assert tty.exit_code != 0


def test_a_hook_that_deletes_itself_ends_as_usual(tmp_path: Path) -> None:
    script = tmp_path / "hook.sh"
    script.write_text('#!/bin/sh\nrm -- "$0"\necho gone\n')
    script.chmod(0o755)
    assert seen(run(tmp_path, str(script))) == (0, "gone\n", "")


def test_three_hundred_hooks_run_side_by_side(tmp_path: Path) -> None:
    async def all_of_them() -> list[Run]:
        order = Order(hook(), ["/bin/true"], str(tmp_path), {}, b"{}\n", 20)
        return list(await asyncio.gather(*(run_command(order) for _ in range(300))))

    assert {ended.exit_code for ended in asyncio.run(all_of_them())} == {0}


def test_an_interrupt_ends_the_hook(tmp_path: Path) -> None:
    async def interrupted() -> None:
        order = Order(
            hook(), ["/bin/sh", "-c", "echo $$ > self; sleep 60"], str(tmp_path), os.environ, b"", 30
        )
        task = asyncio.ensure_future(run_command(order))
        while not (tmp_path / "self").is_file() or not (tmp_path / "self").read_text():
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(asyncio.wait_for(interrupted(), 10))
    assert gone(int((tmp_path / "self").read_text()))


def test_a_first_line_sends_a_hook_into_the_background(tmp_path: Path) -> None:
    async def parted() -> tuple[float | None, Run]:
        line = msgspec.json.encode({"async": True, "asyncTimeout": 500}).decode()
        order = Order(
            hook(), ["/bin/sh", "-c", f"echo '{line}'; read x; echo late"], str(tmp_path), {}, b"\n", 9
        )
        future: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(run_command(order, future))
        return await future, await task

    limit, ended = asyncio.run(parted())
    assert (limit, ended.stdout.splitlines()[1:]) == (500, ["late"])


def gone(pid: int) -> bool:
    """Whether a process has ended, or does so at once; one that only waits to be collected has."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)
