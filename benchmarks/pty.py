"""`python -m benchmarks.pty`: what guarded commands cost: start, sandbox, throughput, screen emulation.

On a machine that is busy with other things: `chrt -f 5 python -m benchmarks.pty`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from benchmarks.table import table
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.sandbox.profile import Places, Profile, confinement
from forge.core.shell.session.command import Command, run
from forge.core.shell.session.screen import Screen
from forge.foundation.system.keeping import Confinement, Keeper
from forge.foundation.system.terminal import open_terminal

BASH = ["/bin/bash", "--norc", "--noprofile", "-c"]
ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
LINE = b"2026-11-16 02:24:21,123 INFO  module.component a message with some more words and number 12345\n"

Action = Callable[[], Awaitable[object]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pty", description=__doc__)
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--megabytes", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_measure(directory, options.rounds, options.megabytes))
    return 0


async def _measure(directory: str, rounds: int, megabytes: int) -> None:
    keeper = Keeper()
    try:
        print(table(await _starts(keeper, directory, rounds)))
        print()
        print(table(await _throughput(keeper, directory, megabytes)))
        print()
        print(table(_screens()))
    finally:
        keeper.close()


async def _starts(keeper: Keeper, directory: str, rounds: int) -> list[dict[str, str]]:
    facts = await probe(keeper)
    places = _places(directory)
    best = confinement(Profile.WORKSPACE, places, facts) if facts.layer < 4 else None

    def command(*, terminal: bool = False, sandbox: Confinement | None = None) -> Action:
        wanted = Command(":", directory, ENV, terminal=terminal, sandbox=sandbox)
        return lambda: run(wanted, keeper)

    async def bare() -> None:
        _bare_command(directory)

    kinds: dict[str, Action] = {
        "bare bash -c": bare,
        "guarded, pipes": command(),
        "guarded, terminal": command(terminal=True),
        "  with seccomp": command(sandbox=Confinement(seccomp=True)),
        "  with Landlock and seccomp": command(sandbox=Confinement(seccomp=True, landlock=True)),
        f"  profile workspace (layer {facts.layer})": command(sandbox=best),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds + 3):
        for name, action in kinds.items():
            begin = time.perf_counter()
            await action()
            elapsed = time.perf_counter() - begin
            # Commands of a model come with pauses, in which the keeper makes the next supervisor.
            await asyncio.sleep(0.01)
            if number >= 3:
                times[name].append(elapsed * 1e3)
    bare_times, plain = sorted(times["bare bash -c"]), sorted(times["guarded, pipes"])
    return [_row(name, sorted(found), bare_times, plain) for name, found in times.items()]


def _places(directory: str) -> Places:
    temp = os.path.join(directory, "temp")
    os.makedirs(temp)
    return Places(directory, os.path.expanduser("~"), temp)


def _bare_command(directory: str) -> None:
    subprocess.run([*BASH, ":"], env=ENV, cwd=directory, stdout=subprocess.PIPE, check=True)


def _row(name: str, found: list[float], bare: list[float], plain: list[float]) -> dict[str, str]:
    middle = len(found) // 2
    return {
        "start of a command": name,
        "p50 ms": f"{found[middle]:.2f}",
        "min ms": f"{found[0]:.2f}",
        "of bare (p50, min)": f"{found[middle] / bare[middle]:.2f}, {found[0] / bare[0]:.2f}",
        "over plain ms (p50, min)": f"{found[middle] - plain[middle]:+.2f}, {found[0] - plain[0]:+.2f}",
    }


async def _throughput(keeper: Keeper, directory: str, megabytes: int) -> list[dict[str, str]]:
    path, size = _log_file(directory, megabytes)
    rows = []
    for terminal in (False, True):
        bare: list[float] = []
        ours: list[float] = []
        for _ in range(5):
            bare.append(_bare_loop(path, terminal=terminal))
            wanted = Command(f"cat {path}", directory, ENV, terminal=terminal, output_path=f"{path}.out")
            begin = time.perf_counter()
            ended = await run(wanted, keeper)
            ours.append(time.perf_counter() - begin)
            assert ended.output.size == size
        loop, guarded = size / min(bare) / 1e6, size / min(ours) / 1e6
        row = {
            "bare loop MB/s": f"{loop:.0f}",
            "guarded MB/s": f"{guarded:.0f}",
            "ratio": f"{guarded / loop:.2f}",
        }
        rows.append({f"{megabytes} MB of output": "terminal" if terminal else "pipe", **row})
    return rows


def _log_file(directory: str, megabytes: int) -> tuple[str, int]:
    path = os.path.join(directory, "log")
    lines = LINE * (megabytes * 1_000_000 // len(LINE))
    with open(path, "wb") as file:
        file.write(lines)
    return path, len(lines)


def _bare_loop(path: str, *, terminal: bool) -> float:
    begin = time.perf_counter()
    reading, writing = open_terminal(24, 80, plain=True) if terminal else os.pipe()
    os.set_blocking(reading, True)
    child = subprocess.Popen([*BASH, f"cat {path}"], stdout=writing)
    os.close(writing)
    try:
        while os.read(reading, 65536):
            pass
    except OSError:
        pass  # the end of a terminal
    os.close(reading)
    child.wait()
    return time.perf_counter() - begin


def _screens() -> list[dict[str, str]]:
    lines = LINE * 100_000
    coloured = (
        b"\x1b[32mINFO\x1b[0m module \x1b[1;34mpath/file\x1b[0m an ordinary line of a log\r\n"
    ) * 50_000
    wide = "naïve façade — «déjà vu» ✓ 日本語\r\n".encode() * 50_000
    outputs = {
        "log, no driver": (lines, True),
        "log, CR LF": (lines.replace(b"\n", b"\r\n"), False),
        "log, bare LF": (lines, False),
        "colours": (coloured, False),
        "wide characters": (wide, False),
    }
    rows = []
    for name, (data, newline) in outputs.items():
        screen = Screen(40, 120, newline=newline)
        begin = time.perf_counter()
        for place in range(0, len(data), 4096):
            screen.feed(data[place : place + 4096])
        speed = len(data) / (time.perf_counter() - begin) / 1e6
        rows.append({"screen": name, "MB/s in pieces of 4 KB": f"{speed:.0f}"})
    return rows


if __name__ == "__main__":
    sys.exit(main())
