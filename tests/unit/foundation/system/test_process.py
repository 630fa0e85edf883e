from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from forge.foundation.system.process import Spawn, descendants, pipe, readable, spawn

ENV = {"PATH": os.environ["PATH"]}


def test_a_child_leads_a_session_of_its_own() -> None:
    async def scenario() -> tuple[int, int, int]:
        reading, writing = pipe()
        child = spawn(Spawn(["/bin/sh", "-c", "ps -o sid= -p $$; exit 3"], "/", ENV, stdout=writing))
        os.close(writing)
        code = await child.wait()
        session = int(os.read(reading, 100))
        os.close(reading)
        return code, session, child.pid

    code, session, pid = asyncio.run(scenario())
    assert (code, session) == (3, pid)


@pytest.mark.parametrize(("how", "code"), [("terminate", -15), ("kill", -9)])
def test_the_whole_session_is_ended(how: str, code: int) -> None:
    async def scenario() -> int:
        reading, writing = pipe()
        script = "sleep 30 & sleep 30 & echo; wait"
        child = spawn(Spawn(["/bin/sh", "-c", script], "/", ENV, stdout=writing))
        os.close(writing)
        await readable(reading)
        assert os.read(reading, 10) == b"\n"
        assert len(descendants(child.pid)) == 2
        getattr(child, how)()
        # The pipe ends when the last process that holds it has ended.
        await readable(reading)
        assert os.read(reading, 10) == b""
        os.close(reading)
        return await child.wait()

    assert asyncio.run(scenario()) == code


def test_the_exit_may_be_waited_for_more_than_once_and_after_the_end() -> None:
    async def scenario() -> list[int]:
        child = spawn(Spawn(["/bin/sh", "-c", "exit 7"], "/", ENV))
        both = await asyncio.gather(child.wait(), child.wait())
        child.kill()
        return [*both, await child.wait()]

    assert asyncio.run(scenario()) == [7, 7, 7]


def test_a_cancelled_wait_leaves_the_child_running() -> None:
    async def scenario() -> int:
        child = spawn(Spawn(["/bin/sleep", "30"], "/", ENV))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await child.wait()
        child.terminate()
        return await child.wait()

    assert asyncio.run(scenario()) == -15


def test_only_chosen_descriptors_are_inherited(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        kept_end, kept = pipe()
        other_end, other = pipe()
        script = f"echo kept >&{kept}; echo other >&{other}" if kept < 10 and other < 10 else ""
        script = script or f"echo kept >/dev/fd/{kept}; echo other >/dev/fd/{other}"
        child = spawn(Spawn(["/bin/bash", "-c", script], str(tmp_path), ENV, keep=(kept,)))
        await child.wait()
        text = os.read(kept_end, 100)
        with pytest.raises(BlockingIOError):
            os.read(other_end, 100)
        for descriptor in (kept_end, kept, other_end, other):
            os.close(descriptor)
        return text

    assert asyncio.run(scenario()) == b"kept\n"


def test_a_program_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        spawn(Spawn(["/no/such/program"], "/", ENV))
