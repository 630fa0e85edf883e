"""A program in a terminal of its own whose user sits at ours: keys go in, the screen comes out."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

from forge.core.shell.session.command import Ended, Output
from forge.core.shell.session.program import NotSent, Program
from forge.core.shell.session.programs import Programs, Start
from forge.foundation.system.controlling import make_raw, read_modes, restore_modes, terminal_size
from forge.foundation.system.keeping import Keeper

_IN, _OUT = 0, 1


async def attend(what: Start, keeper: Keeper, seconds: float) -> Ended:
    """Runs a program to its end with the keys and the screen of this process's terminal."""
    programs = Programs(keeper, idle=seconds + 60)
    name = await programs.start(what)
    program = programs.find(name)
    program.watcher = _show
    loop = asyncio.get_running_loop()
    modes = read_modes(_IN)
    make_raw(_IN)
    loop.add_reader(_IN, _pass_keys, program)
    if hasattr(signal, "SIGWINCH"):
        loop.add_signal_handler(signal.SIGWINCH, lambda: program.resize(*terminal_size(_OUT)))
    try:
        in_time = await program.wait("exit", seconds)
        code = await programs.stop(name)
    finally:
        loop.remove_reader(_IN)
        restore_modes(_IN, modes)
        await programs.close()
    ring = program.output
    output = Output(bytes(ring.head), ring.tail, ring.size, ring.omitted)
    return Ended(code, output, what.cwd, timed_out=not in_time, terminal=True)


def _show(block: bytes) -> None:
    while block:
        block = block[os.write(_OUT, block) :]


def _pass_keys(program: Program) -> None:
    keys = os.read(_IN, 1 << 12)
    with suppress(NotSent):  # a program that does not read gets no more
        program.write(keys or b"\x04")
