"""Runs a program to its end: a time limit, no input, and nothing left running when the time is up."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence

import msgspec

from forge.foundation.system.process import Spawn, spawn

_MOST_OUTPUT = 1 << 20


class Finished(msgspec.Struct, frozen=True):
    """How a program ended; `timed_out` programs were killed with all their children."""

    code: int
    out: str
    err: str
    timed_out: bool = False


def run_program(argv: Sequence[str], cwd: str, env: Mapping[str, str], seconds: float) -> Finished:
    """Runs a program in its own session; raises FileNotFoundError when there is none of that name."""
    return asyncio.run(_run(argv, cwd, env, seconds))


async def _run(argv: Sequence[str], cwd: str, env: Mapping[str, str], seconds: float) -> Finished:
    # Files instead of pipes: a child that keeps a pipe open cannot hold us up.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = spawn(Spawn(argv, cwd, env, stdout=out.fileno(), stderr=err.fileno()))
        timed_out = False
        try:
            async with asyncio.timeout(seconds):
                code = await child.wait()
        except TimeoutError:
            timed_out = True
        finally:
            child.kill()
        if timed_out:
            code = await child.wait()
        return Finished(code, _text(out.fileno()), _text(err.fileno()), timed_out)


def _text(descriptor: int) -> str:
    return os.pread(descriptor, _MOST_OUTPUT, 0).decode("utf-8", "replace")
