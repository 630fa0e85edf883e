"""Runs one command in a fresh shell until the shell exits, or starts it and lets it go on.

Output is collected from a pipe with bounded memory: what does not fit goes to a file. Children left in the
background keep the pipe open without holding up the call, and are never cut off from it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import msgspec

from forge.core.shell.collect import Collector
from forge.foundation.system.process import Spawn, descendants, kill_process, pipe, spawn

_PIPE_SIZE = 1 << 20
# How long output of children in the background is waited for.
_DRAIN = 0.05
# Linux takes 128 KB in one argument; non-ASCII text and quotes need more bytes than characters.
_MAX_ARGUMENT = 30_000
_KILLED = "[killed]"


class Process(Protocol):
    """A process that was started, by whomever; a negative exit code is the number of a signal."""

    @property
    def pid(self) -> int: ...

    async def wait(self) -> int: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Command(msgspec.Struct, frozen=True):
    """`shell` is the program, `text` what it is to run; output beyond memory goes to `output_path`.

    `prelude` is shell text that comes before it. Times are seconds; `grace` is how long a command that is
    told to end may take.
    """

    text: str
    shell: str
    cwd: str
    env: Mapping[str, str]
    output_path: str
    timeout: float = 120.0
    grace: float = 2.0
    progress_every: float = 1.0
    prelude: str = ""


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
    running = start(command, on_progress=on_progress)
    return await (running.outcome() if await running.ended(command.timeout) else running.killed())


class Running:
    """A command that has been started. Whoever has it must see it to its `outcome`, or have it `killed`."""

    def __init__(self, command: Command, child: Process, collector: Collector, report: int) -> None:
        self.over: Callable[[Outcome | None], None] | None = None
        self._command = command
        self._child = child
        self._collector = collector
        self._report = report
        self._kept = False
        self._patience: asyncio.Timeout | None = None

    def hurry(self) -> None:
        """Whoever waits for the end waits no longer, as if the time was up."""
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time())

    async def ended(self, seconds: float) -> bool:
        """Whether the command ends within a time. Cancelling kills it with everything it started."""
        try:
            async with asyncio.timeout(seconds) as self._patience:
                await self._child.wait()
        except TimeoutError:
            return False
        except asyncio.CancelledError:
            self._tell(None)
            await self._end()
            self._close(_KILLED)
            raise
        finally:
            self._patience = None
        return True

    async def outcome(self, *, timed_out: bool = False) -> Outcome:
        """How the command ended, with its output."""
        remark = _KILLED
        try:
            code = await self._child.wait()
            code = 128 - code if code < 0 else code
            await self._collector.drain(_DRAIN)
            cwd = "" if timed_out else _directory(self._report)
            remark = _KILLED if timed_out else f"[exited with code {code}]"
        finally:
            self._close(remark)
        outcome = self._outcome(code, cwd, timed_out=timed_out)
        self._tell(outcome)
        return outcome

    async def killed(self) -> Outcome:
        """Ends the command with everything it started."""
        await self._end()
        return await self.outcome(timed_out=True)

    def keep_output(self, path: str) -> Outcome:
        """Sends the output to a file, also what there was so far, which is returned."""
        so_far = self._outcome(0, "", timed_out=False)
        self._collector.save_all(path)
        self._kept = True
        return so_far

    def _outcome(self, exit_code: int, cwd: str, *, timed_out: bool) -> Outcome:
        c = self._collector
        return Outcome(exit_code, bytes(c.head), c.tail, c.size, cwd, c.path, timed_out)

    def _tell(self, outcome: Outcome | None) -> None:
        """`over` hears once how the command ended, None if nobody waited for that."""
        over, self.over = self.over, None
        if over is not None:
            over(outcome)

    async def _end(self) -> None:
        """First politely, then for certain; nothing stays open when even that is cancelled."""
        try:
            await _end(self._child, self._command.grace)
        except asyncio.CancelledError:
            self._close(_KILLED)
            raise

    def _close(self, remark: str) -> None:
        if self._report >= 0:
            if self._kept:
                self._collector.add(f"\n{remark}\n")
            self._collector.finish()
            os.close(self._report)
            self._report = -1


class Listener(msgspec.Struct, frozen=True):
    """Who hears standard output while it comes; standard error goes to the descriptor instead."""

    on_output: Callable[[bytes], None]
    stderr: int


def start(
    command: Command,
    *,
    on_progress: Callable[[str], None] | None = None,
    listener: Listener | None = None,
) -> Running:
    """Starts a command; raises OSError if it cannot."""
    plumbing = _Plumbing(command, listener)
    try:
        child = spawn(plumbing.spawning())
    except BaseException:
        plumbing.close()
        raise
    return plumbing.running(child, on_progress)


async def start_by(
    launch: Callable[[Spawn], Awaitable[Process]],
    command: Command,
    *,
    on_progress: Callable[[str], None] | None = None,
    listener: Listener | None = None,
) -> Running:
    """Starts a command through somebody else, for example the keeper of sandboxes; raises what that does."""
    plumbing = _Plumbing(command, listener)
    try:
        child = await launch(plumbing.spawning())
    except BaseException:
        plumbing.close()
        raise
    return plumbing.running(child, on_progress)


class _Plumbing:
    """The pipes of a command that is being started."""

    def __init__(self, command: Command, listener: Listener | None) -> None:
        self._command, self._listener = command, listener
        reading, self._writing = pipe(_PIPE_SIZE)
        self._report, self._report_end = pipe()
        hear = listener.on_output if listener else None
        self._collector = Collector(reading, command.output_path, hear)

    def spawning(self) -> Spawn:
        command = self._command
        argv = [command.shell, "-c", _script(command, self._report_end)]
        errors = self._listener.stderr if self._listener else self._writing
        return Spawn(
            argv, command.cwd, command.env, stdout=self._writing, stderr=errors, keep=(self._report_end,)
        )

    def running(self, child: Process, on_progress: Callable[[str], None] | None) -> Running:
        self._close_theirs()
        self._collector.start(on_progress, self._command.progress_every)
        return Running(self._command, child, self._collector, self._report)

    def close(self) -> None:
        self._close_theirs()
        self._collector.close()
        os.close(self._report)

    def _close_theirs(self) -> None:
        os.close(self._writing)
        os.close(self._report_end)


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
    return f"{prepare}{command.prelude}eval {quoted}{hidden}; {note}; exit $__forge_status"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _script_file(command: Command) -> str:
    """A command too long for an argument waits in a file, which the shell removes once it has read it."""
    path = f"{command.output_path}.command"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(os.fsencode(command.text))
    return path


async def _end(child: Process, grace: float) -> None:
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
