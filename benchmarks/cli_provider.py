"""From a line the CLI prints to the line Forge shows, in milliseconds; and what a step of a real CLI costs.

    .venv/bin/python -m benchmarks.cli_provider [CLAUDE]

A stand-in prints text deltas that carry the moment they were written; all processes have the same clock.
With the path of a real `claude` the time of a first and of a later step is measured too, against the
scripted server on loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.subject import TESTS

sys.path.insert(0, str(TESTS))

from fakemodel import serve  # found through the line above
from forge.core.message import Message, Text
from forge.core.model import Finished, Request, Started
from forge.core.models.catalog import open_model

DELTAS, PAUSE = 200, 0.005

PROGRAM = f"""#!{sys.executable} -SE
import json, os, sys, time

def put(line):
    os.write(1, json.dumps(line).encode() + b"\\n")

def stream(event):
    put({{"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": None}})

if "--version" in sys.argv:
    print("2.1.325 (Claude Code)")
    sys.exit()
for line in sys.stdin:
    heard = json.loads(line)
    if heard["type"] != "user":
        continue
    head = {{"id": "m", "type": "message", "role": "assistant", "model": "x"}}
    put({{"type": "system", "subtype": "init", "session_id": "s", "model": "x"}})
    stream({{"type": "message_start", "message": {{**head, "content": [], "usage": {{"input_tokens": 1}}}}}})
    stream({{"type": "content_block_start", "index": 0, "content_block": {{"type": "text", "text": ""}}}})
    said = ""
    for _ in range({DELTAS}):
        piece = f"@{{time.clock_gettime_ns(time.CLOCK_MONOTONIC)}} "
        said += piece
        delta = {{"type": "text_delta", "text": piece}}
        stream({{"type": "content_block_delta", "index": 0, "delta": delta}})
        time.sleep({PAUSE})
    put({{"type": "assistant", "message": {{**head, "content": [{{"type": "text", "text": said}}]}}}})
    stream({{"type": "content_block_stop", "index": 0}})
    stream({{"type": "message_delta", "delta": {{"stop_reason": "end_turn"}}, "usage": {{}}}})
    stream({{"type": "message_stop"}})
    put({{"type": "result", "subtype": "success", "is_error": False, "total_cost_usd": 0.0}})
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for mode in ("model", "agent"):
            shown = _latencies(home, mode)
            worst = sorted(shown)[-max(1, len(shown) // 20) :]
            print(
                f"{mode} mode, printed by the CLI to shown by forge: first {shown[0]:.2f} ms, median"
                f" {statistics.median(shown):.2f} ms, 95 % {worst[0]:.2f} ms, longest {worst[-1]:.2f} ms"
            )
        if len(sys.argv) > 1:
            first, later = asyncio.run(_steps(home, sys.argv[1]))
            print(
                f"real CLI, to the first event of a reply: new process {first:.0f} ms,"
                f" later step {later:.0f} ms"
            )


def _latencies(home: Path, mode: str) -> list[float]:
    program = home / "claude"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    row = {"enabled": True, "program": str(program), "options": {"mode": mode}}
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-m", "forge", "-p", "go", "--model", "claude-code/sonnet"]
    argv += ["--settings", json.dumps({"providers": {"claude-code": row}}), "--verbose"]
    argv += ["--output-format", "stream-json", "--include-partial-messages"]
    found = []
    with subprocess.Popen(argv, cwd=home, env=env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        for line in child.stdout:
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            event = json.loads(line).get("event") or {}
            if event.get("type") == "content_block_delta":
                found.append((now - int(event["delta"]["text"].strip(" @"))) / 1e6)
    assert len(found) == DELTAS, f"{len(found)} deltas"
    return found


async def _steps(home: Path, program: str) -> tuple[float, float]:
    """Milliseconds to the first event: with a new process, and the median of later steps."""
    with serve([[{"text": "one"}], *[[{"text": "more"}]] * 10]) as server:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "ANTHROPIC_BASE_URL": server.url}
        env |= {"ANTHROPIC_API_KEY": "dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        row = {"enabled": True, "program": program}
        model = open_model("claude-code/sonnet", env, {"providers": {"claude-code": row}}.get)
        said = [Message("user", [Text("go")])]
        times = []
        for _ in range(8):
            began = time.perf_counter()
            async for delta in model.stream(Request("sonnet", ["S"], said, [])):
                if isinstance(delta, Started):
                    times.append((time.perf_counter() - began) * 1000)
                elif isinstance(delta, Finished):
                    said += [delta.message, Message("user", [Text("on")])]
        await model.close()
    return times[0], statistics.median(times[1:])


if __name__ == "__main__":
    main()
