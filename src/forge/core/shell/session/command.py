"""Runs one command in a fresh shell, in pipes or in a terminal, and carries its directory and exports over.

The text of the command goes in, and exit code, directory and variables come out, through descriptors of their
own: no length is too long, no syntax error breaks the frame, and no output can be mistaken for a result.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from forge.core.shell.session.binary import kind_of_binary
from forge.core.shell.session.capture import Capture
from forge.core.shell.session.exported import read_exports
from forge.foundation.system.keeping import Confinement, Held, Keeper, Order, memory_file
from forge.foundation.system.process import Unsupported, pipe
from forge.foundation.system.terminal import open_terminal, signal_front

_TEXT, _RESULT = 30, 31
_PIPE_SIZE = 1 << 17
_SILENCE = 0.075
# The trap also reports when the command says `exit`; a trap of the command's own takes its place. What the
# command starts does not have the descriptor of the result: it could smuggle variables into later commands.
_SCRIPT = (
    f'IFS= read -r -d "" -u {_TEXT} __forge; exec {_TEXT}<&-; '
    f'__forge_end() {{ printf \'%s\\0%s\\0\' "$?" "$PWD" >&{_RESULT}; export -p >&{_RESULT}; }}; '
    "trap '{ __forge_end; } 2>/dev/null' EXIT; "
    f'eval "$__forge" {_RESULT}>&-'
)


class Opener(Protocol):
    """Makes a terminal: the descriptors of its two ends."""

    def __call__(self, rows: int, columns: int, *, plain: bool) -> tuple[int, int]: ...


class Command(msgspec.Struct, frozen=True):
    """`text` runs in `shell` (a bash). `terminal`: in a terminal of `rows` by `columns` instead of pipes.

    `apart`: errors are collected by themselves. `output_path`: where output too long for memory goes.
    `source`: what it reads as input where it has no terminal; starting the command closes it.
    """

    text: str
    cwd: str
    env: Mapping[str, str]
    shell: str = "/bin/bash"
    timeout: float = 120.0
    grace: float = 2.0
    terminal: bool = False
    rows: int = 24
    columns: int = 80
    apart: bool = False
    output_path: str = ""
    sandbox: Confinement | None = None
    limits: tuple[tuple[str, int], ...] = (("core", 0),)
    source: int = -1


class Output(msgspec.Struct, frozen=True):
    """What a stream carried: its start and its end; `binary` names its kind if it is no text."""

    head: bytes = b""
    tail: bytes = b""
    size: int = 0
    omitted: int = 0
    path: str = ""
    binary: str = ""

    def text(self) -> str:
        """What is kept, with a remark where something is missing."""
        if not self.omitted:
            return (self.head + self.tail).decode("utf-8", "replace")
        gap = f"\n[... {self.omitted} bytes omitted ...]\n"
        return self.head.decode("utf-8", "replace") + gap + self.tail.decode("utf-8", "replace")


class Ended(msgspec.Struct, frozen=True):
    """How a command ended. `exit_code` is 128 plus the signal's number after a signal.

    `exports` is None if the shell could not report it; then `cwd` is the directory it started in. `terminal`
    says whether it ran in one.
    """

    exit_code: int
    output: Output
    cwd: str
    exports: Mapping[str, str] | None = None
    errors: Output = Output()
    timed_out: bool = False
    survivors: tuple[int, ...] = ()
    terminal: bool = False


async def run(command: Command, keeper: Keeper) -> Ended:
    """Runs a command to its end or its time limit; cancelling ends everything it has started."""
    running = await start(command, keeper)
    return await (running.result() if await running.ended(command.timeout) else running.stopped())


async def start(
    command: Command,
    keeper: Keeper,
    *,
    on_output: Callable[[bytes], None] | None = None,
    opener: Opener = open_terminal,
) -> Running:
    """Starts a command; NotStarted if it or its sandbox cannot be had.

    Where no terminal can be had the command gets pipes, and the result says so.
    """
    ours: tuple[int, ...] = ()
    theirs = (-1, -1, -1)
    if command.terminal:
        try:
            ours, theirs = _terminals(command, opener)
        except (OSError, Unsupported):
            command = msgspec.structs.replace(command, terminal=False)
    if not ours:
        ours, theirs = _pipes(command)
    result, result_end = pipe()
    text = memory_file(command.text.encode("utf-8", "surrogateescape"))
    try:
        order = Order(
            [command.shell, "--norc", "--noprofile", "-c", _SCRIPT],
            command.cwd,
            command.env,
            theirs,
            ((text, _TEXT), (result_end, _RESULT)),
            terminal=command.terminal,
            sandbox=command.sandbox,
            limits=command.limits,
        )
        held = await keeper.start(order)
    except BaseException:
        for descriptor in {result, *ours}:
            os.close(descriptor)
        raise
    finally:
        for descriptor in {result_end, text, *theirs} - {-1}:
            os.close(descriptor)
    return Running(command, held, _captures(command, ours, on_output), result)


class Running:
    """A command that has been started. Whoever has it must see it to its `result`, or have it `stopped`."""

    def __init__(self, command: Command, held: Held, captures: list[Capture], result: int) -> None:
        self.held = held
        self._command = command
        self._captures = captures
        self._master = captures[0] if command.terminal else None
        self._result = result
        self._lingering: asyncio.Future[None] | None = None

    async def ended(self, seconds: float) -> bool:
        """Whether the command ends within a time. Cancelling ends everything it has started."""
        try:
            async with asyncio.timeout(seconds):
                await self.held.wait()
        except TimeoutError:
            return False
        except asyncio.CancelledError:
            self._drop()
            raise
        return True

    async def result(self, *, timed_out: bool = False) -> Ended:
        """How the command ended, with its output."""
        try:
            code = await self.held.wait()
            for capture in self._captures:
                await capture.drained(_SILENCE)
            code, cwd, exports = self._report(code)
            outputs = [_output(capture) for capture in self._captures]
            survivors = self.held.survivors()
        except asyncio.CancelledError:
            self._drop()
            raise
        finally:
            self._close()
        if survivors:
            self._lingering = asyncio.ensure_future(self._linger())
        if len(outputs) == 1:
            outputs.append(Output())
        terminal = self._command.terminal
        return Ended(code, outputs[0], cwd, exports, outputs[1], timed_out, survivors, terminal)

    async def stopped(self) -> Ended:
        """Ends the command: an interrupt first, then a request, then by force, with all it has started."""
        for ask in (self._interrupt, self.held.terminate):
            ask()
            if await self.ended(self._command.grace):
                break
        try:
            await self.held.killed()
        except asyncio.CancelledError:
            self._drop()
            raise
        return await self.result(timed_out=True)

    def _interrupt(self) -> None:
        if self._master is None or not signal_front(self._master.descriptor, signal.SIGINT):
            self.held.interrupt()

    def _report(self, code: int) -> tuple[int, str, Mapping[str, str] | None]:
        blocks: list[bytes] = []
        try:
            while len(blocks) < 64 and (block := os.read(self._result, 1 << 16)):
                blocks.append(block)
        except BlockingIOError:
            pass
        status, _, rest = b"".join(blocks).partition(b"\0")
        cwd, mark, exports = rest.partition(b"\0")
        if not mark or not status.isdigit():
            return code, self._command.cwd, None
        return code, os.fsdecode(cwd), read_exports(exports.decode("utf-8", "surrogateescape"))

    async def _linger(self) -> None:
        """What the command has left behind is not cut off from its output; in the end nothing stays open."""
        try:
            await self.held.all_ended()
        finally:
            self.held.close()
            for capture in self._captures:
                capture.abandon()

    def _drop(self) -> None:
        """Nobody waits any longer: everything ends, and nothing stays open for what it might still say."""
        self.held.drop()
        for capture in self._captures:
            capture.abandon()
        self._close()

    def _close(self) -> None:
        if self._result >= 0:
            os.close(self._result)
            self._result = -1
        for capture in self._captures:
            capture.close()


def _terminals(command: Command, opener: Opener) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """What we read from, and the input, output and error of the command."""
    master, slave = opener(command.rows, command.columns, plain=True)
    if not command.apart:
        return (master,), (slave, slave, slave)
    second, errors = opener(command.rows, command.columns, plain=True)
    return (master, second), (slave, slave, errors)


def _pipes(command: Command) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    reading, writing = pipe(_PIPE_SIZE)
    if not command.apart:
        return (reading,), (command.source, writing, writing)
    second, errors = pipe(_PIPE_SIZE)
    return (reading, second), (command.source, writing, errors)


def _captures(
    command: Command, ours: tuple[int, ...], on_output: Callable[[bytes], None] | None
) -> list[Capture]:
    paths = [command.output_path, command.output_path and f"{command.output_path}.errors"]
    return [Capture(own, path, on_output) for own, path in zip(ours, paths, strict=False)]


def _output(capture: Capture) -> Output:
    capture.settle()
    ring = capture.ring
    head = bytes(ring.head)
    kind = kind_of_binary(head)
    if kind:
        capture.save()  # it will not be shown, so there must be another way to it
    return Output(head, ring.tail, ring.size, ring.omitted, capture.path, kind)
