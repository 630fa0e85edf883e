"""Plays a very long session in one process and counts everything again at its end: from what the server saw,
from the transcripts and from /proc.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from fakemodel import Recorded, Server, serve
from forge_run import MODEL, environment
from marathon_plan import ENDLESS, Actor, Json, Size, Step, call, plan

_FLAGS = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--model", MODEL)


WATCHER = "anon_inode:inotify"


class Sample(NamedTuple):
    """The process after a turn: wall and CPU milliseconds of the turn, memory in MB, open descriptors;
    `sockets` of them are connections to the model that are kept for the next request."""

    turn: int
    wall: float
    cpu: float
    memory: float
    descriptors: int
    sockets: int


class Outcome(NamedTuple):
    """What a session was and what is wrong with it; the last sample is of its idle end."""

    samples: list[Sample]
    peak: float
    compactions: int
    agents: int
    at_once: int
    jobs: int
    calls: int
    requests: int
    cost: float
    faults: list[str]


class Runner:
    """The long-lived process and what its host sees of it."""

    def __init__(self, work: Path, url: str, *args: str) -> None:
        project = work / "project"
        project.mkdir(parents=True, exist_ok=True)
        env = environment(work / "home", url)
        command = [sys.executable, "-m", "forge", *_FLAGS, "--permission-mode", "bypassPermissions", *args]
        self._errors = (work / "stderr").open("wb")
        self.child = subprocess.Popen(
            command, cwd=project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        self.running: dict[str, str] = {}
        self.kinds: dict[str, int] = {}
        self.at_once = self.compactions = 0
        self.cost = 0.0

    def say(self, words: str) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": words}, "session_id": ""})

    def until(self, result: str) -> bool:
        """Reads records up to the result with these words; false if the process ends before."""
        assert self.child.stdout is not None
        for line in self.child.stdout:
            record = json.loads(line) if line.endswith(b"\n") else {"type": "torn"}
            self._note(record)
            if record["type"] == "result" and (not result or record.get("result") == result):
                return True
        return False

    def sample(self, turn: int, began: tuple[float, float]) -> Sample:
        pid = self.child.pid
        wall, cpu = self.now()
        memory = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        kinds = [_target(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
        if WATCHER in kinds:  # the one that watches the settings is opened in the second second
            kinds.remove(WATCHER)
        sockets = sum(kind.startswith("socket:") for kind in kinds)
        used = ((wall - began[0]) * 1e3, (cpu - began[1]) * 1e3)
        return Sample(turn, *used, memory, len(kinds), sockets)

    def now(self) -> tuple[float, float]:
        """Wall clock and CPU seconds of the process."""
        ran = Path(f"/proc/{self.child.pid}/schedstat").read_text().split()[0]
        return time.monotonic(), int(ran) / 1e9

    def settle(self) -> Sample:
        """The process once no task runs any more."""
        assert self.child.stdout is not None
        while self.running:
            self._note(json.loads(self.child.stdout.readline()))
        return self.sample(0, self.now())

    def finish(self) -> float:
        """Ends the session as hosts do; returns the peak of its memory in MB."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        end = {"type": "control_request", "request_id": "end", "request": {"subtype": "end_session"}}
        self.send(end)
        self.child.stdin.close()
        for line in self.child.stdout:
            self._note(json.loads(line))
        self.child.wait(20)
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6

    def close(self) -> None:
        self.child.kill()
        self.child.wait(10)
        for stream in (self.child.stdin, self.child.stdout, self._errors):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()

    def stop_sleepers(self) -> list[Json]:
        """Calls that stop the commands that would not end by themselves."""
        found = [task for task, about in self.running.items() if ENDLESS in about]
        return [call("TaskStop", task_id=task) for task in found]

    def _note(self, record: Json) -> None:
        kind, subtype = record["type"], record.get("subtype")
        if kind == "result":
            self.cost = record["total_cost_usd"]
        elif subtype == "compact_boundary":
            self.compactions += 1
        elif subtype == "task_started":
            self.kinds[record["task_type"]] = self.kinds.get(record["task_type"], 0) + 1
            self.running[record["task_id"]] = f"{record['task_type']} {record.get('description')}"
            agents = sum(about.startswith("local_agent") for about in self.running.values())
            self.at_once = max(self.at_once, agents)
        elif subtype == "task_notification":
            self.running.pop(record["task_id"], None)

    def send(self, message: Json) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def run(work: Path, size: Size) -> Outcome:
    """Plays the whole session and counts."""
    steps = plan(size)
    with serve([]) as server:
        actor = Actor(steps, str(work / "project"))
        server.decide = actor.decide
        server.observe = _forget(server)
        runner = Runner(work, server.url)
        try:
            samples = [_play(runner, steps, turn) for turn in range(1, size.turns + 1)]
            samples.append(runner.settle())
            # One command is left for the end of the session to end.
            runner.say("[[last]] Go on.")
            assert runner.until("done last")
            peak = runner.finish()
        finally:
            runner.close()
    faults = [*actor.faults, *_left_over(work), *_gathered(samples, size), *_untold(work, actor)]
    for said in (runner.cost, _written_cost(work)):
        if round(said, 8) != round(actor.cost, 8):
            faults.append(f"the session says it cost {said}, the answers cost {actor.cost}")
    kinds = runner.kinds
    return Outcome(
        samples,
        peak,
        runner.compactions,
        kinds.get("local_agent", 0),
        runner.at_once,
        kinds.get("local_bash", 0),
        len(actor.calls),
        actor.requests,
        runner.cost,
        faults,
    )


def _play(runner: Runner, steps: dict[str, Step], turn: int) -> Sample:
    step = steps[str(turn)]
    if step.compaction == "manual":
        runner.say("/compact")
        assert runner.until("")
    stops = runner.stop_sleepers() if turn % 10 == 0 else []
    step.blocks.extend(stops)
    began = runner.now()
    runner.say(f"[[{turn}]] Go on.")
    assert runner.until(f"done {turn}"), "the process ended"
    return runner.sample(turn, began)


def _forget(server: Server) -> Any:
    """Requests are checked as they come; keeping them would take gigabytes."""

    def forget(request: Recorded) -> None:
        server.requests.clear()

    return forget


def _left_over(work: Path) -> list[str]:
    """Processes that outlived the session, found by their home."""
    faults = []
    mark = f"HOME={work / 'home'}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (place / "environ").read_bytes().split(b"\0"):
                faults.append(f"process {place.name} is left: {(place / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    return faults


def _gathered(samples: list[Sample], size: Size) -> list[str]:
    """Descriptors the process kept; connections to the model may stay, one for each agent at work at once."""
    first, last = samples[0], samples[-1]
    faults = []
    if last.descriptors - last.sockets > first.descriptors - first.sockets:
        faults.append(f"descriptors grew: {first} {last}")
    if last.sockets > first.sockets + size.at_once:
        faults.append(f"{last.sockets} sockets are open")
    return faults


def _untold(work: Path, actor: Actor) -> list[str]:
    """Calls that the transcripts do not hold once, with one result, or that failed."""
    uses: list[str] = []
    results: list[str] = []
    failed: list[str] = []
    for path in (work / "home" / ".claude" / "projects").rglob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            content = (json.loads(line).get("message") or {}).get("content")
            for block in content if isinstance(content, list) else ():
                if block["type"] == "tool_use":
                    uses.append(block["id"])
                elif block["type"] == "tool_result":
                    results.append(block["tool_use_id"])
                    failed += [f"failed: {block['content']}"] if block.get("is_error") else []
    expected = sorted(actor.calls)
    named = {"calls": uses, "results": results}
    wrong = [f"{n}: {len(f)} for {len(expected)} calls" for n, f in named.items() if sorted(f) != expected]
    return wrong + failed


def _written_cost(work: Path) -> float:
    """The total the transcript ends with."""
    (path,) = (work / "home" / ".claude" / "projects").glob("*/*.jsonl")
    lines = [line for line in path.read_bytes().splitlines() if b'"type":"cost-state"' in line]
    return float(json.loads(lines[-1])["totalCostUSD"])
