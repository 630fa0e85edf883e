"""Commands end with the process that wanted them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forge
from unit.core.shell.processes import is_gone

PROGRAM = """
import asyncio, os, sys
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.session.command import Command, start
from forge.foundation.system.keeping import Confinement, Keeper

async def main(spaces):
    keeper = Keeper()
    if spaces and not (await probe(keeper)).namespaces:
        print("none", flush=True)
        return
    sandbox = Confinement(namespaces=True, write=("/tmp",)) if spaces else None
    text = "trap '' INT TERM HUP; (setsid sleep 81 &); sleep 82 & sleep 83"
    running = await start(Command(text, "/", {"PATH": os.environ["PATH"]}, sandbox=sandbox), keeper)
    while len(running.held.survivors()) < 4:
        await asyncio.sleep(0)
    print(running.held.pid, *running.held.survivors(), flush=True)
    await running.ended(60)

asyncio.run(main(sys.argv[1] == "spaces"))
"""


@pytest.mark.requirement("S2-14")
@pytest.mark.parametrize("kind", ["plain", "spaces"])
def test_nothing_outlives_a_process_that_is_killed(tmp_path: Path, kind: str) -> None:
    source = str(Path(forge.__file__ or "").parents[1])
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": source, "HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind], env=env, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        words = child.stdout.readline().split()
        child.send_signal(signal.SIGKILL)
    if words == ["none"]:
        pytest.skip("namespaces do not work here")
    assert len(words) == 5
    assert [pid for pid in words if not is_gone(int(pid))] == []
