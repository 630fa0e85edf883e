"""What dispatching hooks costs: python -m benchmarks.hooks. Ratios of one run.

- ten no-op command hooks of one event, beside starting the same ten processes with subprocess alone
- an event without hooks, and one with a thousand hooks that do not match
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.subject import TESTS

sys.path.insert(0, str(TESTS))

from doubles import RecordingHost, ScriptedModel, session  # found through the line above
from forge.agent.hooks.engine import Engine
from forge.core.components.kinds import HookSource
from forge.foundation.origin import Origin, Scope

ROUNDS, MANY = 30, 10
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


def main() -> int:
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
