"""What hooks cost: python -m benchmarks.hooks [--reference PATH]. Ratios of one run.

- ten no-op command hooks of one event, beside starting the same ten processes with subprocess alone
- an event without hooks, and one with a thousand hooks that do not match
- with --reference: what ten hooks add to a whole job, Forge beside the reference CLI
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.jobs import DONE
from benchmarks.measure import run
from benchmarks.subject import TESTS, Subject, installed_forge, subjects

sys.path.insert(0, str(TESTS))

from doubles import RecordingHost, ScriptedModel, session  # found through the line above
from fakemodel import serve
from forge.agent.hooks.engine import Engine
from forge.core.components.kinds import HookSource
from forge.foundation.origin import Origin, Scope

ROUNDS, JOBS, MANY = 30, 7, 10
CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call-1"}


def groups(commands: list[str], matcher: str = "") -> dict[str, Any]:
    """A hook of PreToolUse per command."""
    handlers = [{"type": "command", "command": command} for command in commands]
    return {"PreToolUse": [{"matcher": matcher, "hooks": [handler]} for handler in handlers]}


def engine(events: dict[str, Any]) -> Engine:
    made = Engine()
    made.add(HookSource(Origin(Scope.USER), events))
    made.session = session(ScriptedModel([]), RecordingHost(), [], hooks=made, cwd="/")
    return made


async def fired(made: Engine, event: str, rounds: int, **payload: Any) -> float:
    """Median milliseconds of firing an event."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        await made.fire(event, **payload)
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def started(rounds: int) -> float:
    """Median milliseconds of starting ten shells as hooks are started and waiting for all of them."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        commands = [["/bin/sh", "-c", f": {n}"] for n in range(MANY)]
        children = [subprocess.Popen(c, start_new_session=True, **pipes) for c in commands]
        for child in children:
            child.communicate(b"{}\n")
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def others(pattern: str) -> tuple[float, float]:
    """Milliseconds of the first and of later dispatches with a thousand hooks that do not match."""
    firsts, laters = [], []
    for round_ in range(9):
        events = [groups([f": {n}"], pattern.format(f"{round_}_{n}"))["PreToolUse"][0] for n in range(1000)]
        made = engine({"PreToolUse": events})
        firsts.append(asyncio.run(fired(made, "PreToolUse", 1, **CALL)))
        laters.append(asyncio.run(fired(made, "PreToolUse", 20, **CALL)))
    return statistics.median(firsts), statistics.median(laters)


def added(subject: Subject) -> float:
    """Milliseconds that ten no-op hooks add to a job with one call."""
    turns = [[{"tool": "Bash", "input": {"command": "true", "description": "d"}}], [{"text": DONE}]]
    medians = []
    for commands in ([], [f": {n}" for n in range(MANY)]):
        settings = Path(subject.home, ".claude", "settings.json")
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": groups(commands) if commands else {}}))
        walls = []
        for _ in range(JOBS):
            with serve(turns) as server:
                command, env = subject.job(server.url)
                walls.append(run(command, env, subject.home, timeout=20).wall)
        medians.append(statistics.median(walls))
    return medians[1] - medians[0]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.hooks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reference", help="the reference CLI")
    given = parser.parse_args(arguments)
    ten = engine(groups([f": {n}" for n in range(MANY)]))
    asyncio.run(fired(ten, "PreToolUse", 2, **CALL))
    # In turns, so that whatever else the machine does meets both.
    rounds = [(asyncio.run(fired(ten, "PreToolUse", 3, **CALL)), started(3)) for _ in range(ROUNDS)]
    for named, pick in (("median", statistics.median), ("best", min)):
        hooks, bare = (pick(times) for times in zip(*rounds, strict=True))
        print(f"ten no-op hooks, {named:6}    {hooks:8.2f} ms   {hooks / bare:.2f} × starting ten processes")
    nobody = asyncio.run(fired(ten, "Stop", 2000, stop_hook_active=False))
    print(f"an event without hooks     {nobody * 1e3:8.2f} µs")
    for kind, pattern in (("names", "Other{}"), ("patterns", "^Other{}.*$")):
        first, later = others(pattern)
        print(f"1,000 other {kind:8} first  {first:8.2f} ms, then {later:.2f} ms")
    if given.reference:
        with subjects(installed_forge(), given.reference) as both:
            mine, other = (added(subject) for subject in both)
        print(
            f"ten hooks in a whole job   {mine:8.2f} ms   {mine / other:.2f} × the reference's {other:.2f} ms"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
