"""Runs one command in a fresh shell and returns when the shell exits.

Output is collected from a pipe with bounded memory: what does not fit goes to a file. Children left in the
background keep the pipe open without holding up the call, and are never cut off from it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

import msgspec

from forge.core.shell.collect import Collector
from forge.foundation.system.process import Child, Spawn, descendants, kill_process, pipe, spawn

_PIPE_SIZE = 1 << 20
# How long output of children in the background is waited for.
_DRAIN = 0.05
# Linux takes 128 KB in one argument; non-ASCII text and quotes need more bytes than characters.
_MAX_ARGUMENT = 30_000


class Command(msgspec.Struct, frozen=True):
    """`shell` is the program, `text` what it is to run; output beyond memory goes to `output_path`.

    Times are seconds; `grace` is how long a command that is told to end may take.
    """

    text: str
    shell: str
    cwd: str
    env: Mapping[str, str]
    timeout: float
    output_path: str
    grace: float = 2.0
    progress_every: float = 1.0


class Outcome(msgspec.Struct, frozen=True):
    """How a command ended. `head` is the output, or as much of its start as was kept; then `tail` is its end.

    `exit_code` is 128 plus the signal's number after a signal. `cwd` is where the shell was at its end; "" if
    it did not get so far. `path` is the file with the whole output, "" if there is none.
    """

    exit_code: int
    head: bytes
    tail: bytes
    size: int
    cwd: str = ""
    path: str = ""
    timed_out: bool = False


async def execute(command: Command, *, on_progress: Callable[[str], None] | None = None) -> Outcome:
    """Runs a command. Cancelling kills it with everything it started; raises OSError if it cannot start."""
    reading, writing = pipe(_PIPE_SIZE)
    report, report_end = pipe()
    collector = Collector(reading, command.output_path)
    try:
        argv = [command.shell, "-c", _script(command, report_end)]
        child = spawn(
            Spawn(argv, command.cwd, command.env, stdout=writing, stderr=writing, keep=(report_end,))
        )
    except BaseException:
        collector.close()
        os.close(report)
        raise
    finally:
        os.close(writing)
        os.close(report_end)
    try:
        collector.start(on_progress, command.progress_every)
        code, timed_out = await _ended(child, command)
        await collector.drain(_DRAIN)
        cwd = "" if timed_out else _directory(report)
    finally:
        collector.finish()
        os.close(report)
    return Outcome(
        exit_code=128 - code if code < 0 else code,
        head=bytes(collector.head),
        tail=collector.tail,
        size=collector.size,
        cwd=cwd,
        path=collector.path,
        timed_out=timed_out,
    )


def _script(command: Command, report: int) -> str:
    """The command, then a note of the directory it ended in.

    The note goes to a descriptor the command itself does not have, without a trace in its output or exit
    code. All is one line, which the shell has read before the command can confuse its parser.
    """
    quoted = _quoted(command.text)
    if len(quoted) > _MAX_ARGUMENT:
        path = _quoted(_script_file(command))
        quoted = f'"$(cat {path}; rm -f {path})"'
    note = f"{{ printf '\\0'; pwd -P; }} >/dev/fd/{report}"
    if os.path.basename(command.shell) == "bash":
        # Only bash can close a descriptor with so high a number for the time of one command.
        prepare, hidden, note = "shopt -s expand_aliases; ", f" {report}>&-", f"{note}; exec {report}>&-"
    else:
        prepare, hidden = "", ""
    note = f"{{ __forge_status=$?; {note}; set +x; }} 2>/dev/null"
    return f"{prepare}eval {quoted}{hidden}; {note}; exit $__forge_status"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _script_file(command: Command) -> str:
    """A command too long for an argument waits in a file, which the shell removes once it has read it."""
    path = f"{command.output_path}.command"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(os.fsencode(command.text))
    return path


async def _ended(child: Child, command: Command) -> tuple[int, bool]:
    try:
        async with asyncio.timeout(command.timeout):
            return await child.wait(), False
    except TimeoutError:
        await _end(child, command.grace)
        return await child.wait(), True
    except asyncio.CancelledError:
        await _end(child, command.grace)
        raise


async def _end(child: Child, grace: float) -> None:
    """Ends a command and everything it started, first politely."""
    strays = descendants(child.pid)
    child.terminate()
    try:
        async with asyncio.timeout(grace):
            await child.wait()
    except TimeoutError:
        pass
    finally:
        child.kill()
        for pid in strays:
            kill_process(pid)


def _directory(report: int) -> str:
    """The note about the directory: what stands behind the last mark; "" if the shell did not get so far."""
    try:
        text = os.read(report, 1 << 16)
    except BlockingIOError:
        return ""
    return os.fsdecode(text.rpartition(b"\0")[2].removesuffix(b"\n"))
