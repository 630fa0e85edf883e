"""One measured run of a program: wall time, CPU time and peak memory of the whole process tree."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SAMPLE_SECONDS = 0.003
PAGE = os.sysconf("SC_PAGE_SIZE")


class Run(NamedTuple):
    """Times in milliseconds, memory in MB: `largest` is the peak of the largest process, as the kernel counts
    it; `memory` the peak of the whole tree, sampled, and only of runs that asked for it."""

    exit_code: int
    wall: float
    cpu: float
    largest: float
    memory: float
    stdout: bytes
    stderr: bytes


def run(
    command: list[str], env: Mapping[str, str], cwd: str, *, timeout: float = 120.0, sample: bool = False
) -> Run:
    """Runs a command to its end. Sampling memory disturbs the times, so ask for one or the other."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        killer = threading.Timer(timeout, _kill, [child.pid])
        killer.start()
        sampler = Sampler(child.pid) if sample else None
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        killer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        memory = sampler.finish() if sampler else 0.0
        _kill(child.pid)  # whatever it left behind
        cpu = usage.ru_utime + usage.ru_stime
        texts = _content(out.fileno()), _content(err.fileno())
        return Run(child.returncode, wall * 1e3, cpu * 1e3, usage.ru_maxrss / 1e3, memory, *texts)


class Sampler:
    """Watches the memory of a process and its descendants from a thread."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def finish(self) -> float:
        """Ends the watch and returns the highest sum seen, in MB."""
        self._stop.set()
        self._thread.join()
        return self._peak / 1e6

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._peak = max(self._peak, sum(_resident(pid) for pid in _tree(self._pid)))


def _tree(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return found


def _resident(pid: int) -> int:
    """Bytes a process has in memory, 0 when it is gone. Pages that processes share count for each of them."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _content(descriptor: int) -> bytes:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
